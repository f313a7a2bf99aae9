#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/runtime.h"
#include "json/value.h"
#include "net/http_client.h"

namespace verbatim::gateway::testing {

// What a client saw of an answer.
struct Answer {
  // Some bytes of the body and when they came.
  struct Piece {
    base::MonoTime at;
    std::string bytes;
  };
  int status = 0;  // 0: no answer came
  net::Headers headers;
  std::string body;
  std::vector<Piece> pieces;
  bool cut = false;  // it broke off

  [[nodiscard]] std::string header(std::string_view name) const;
  // Payloads of the data lines of a stream.
  [[nodiscard]] std::vector<std::string> events() const;
  // The text at a path of names and indices: text("choices", 0, "message", "content"). Strings
  // unescaped, all else as written; "" where nothing stands.
  template <class... Step>
  [[nodiscard]] std::string text(Step... path) const {
    return text_at(body, {std::string(as_step(path))...});
  }
  static std::string text_at(const std::string& json, const std::vector<std::string>& path);

 private:
  static std::string as_step(std::string_view name) { return std::string(name); }
  static std::string as_step(int index) { return std::to_string(index); }
};

// An HTTP client on the network of `runtime`. stop() before it is destroyed.
class HttpCaller {
 public:
  HttpCaller(base::Runtime& runtime, std::uint16_t port)
      : runtime_(runtime), client_(runtime), port_(port) {}

  // Fired, the connection is closed: before the answer's head by the client, then between pieces.
  base::CancelSignal* hang_up = nullptr;
  net::Headers headers;  // sent with each request

  base::Task<Answer> call(std::string method, std::string path, std::string body = "");
  base::Task<Answer> post(std::string path, std::string body) {
    return call("POST", std::move(path), std::move(body));
  }
  base::Task<Answer> get(std::string path) { return call("GET", std::move(path)); }
  base::Task<void> stop() { return client_.stop(); }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  base::Runtime& runtime_;
  net::HttpClient client_;
  std::uint16_t port_;
};

}  // namespace verbatim::gateway::testing
