#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/runtime.h"
#include "net/http_client.h"
#include "net/url.h"

namespace verbatim::load {

// A gateway's sessions over HTTP, on kept connections. On one executor.
class Gateway {
 public:
  Gateway(base::Runtime& runtime, net::Url url) : runtime_(runtime), url_(std::move(url)) {}

  // The body of a 2xx answer. kInternal: any other, with the begin of its body; else as HttpClient.
  base::Task<base::Result<std::string>> call(std::string_view method, std::string target,
                                             std::vector<std::string_view> body);
  base::Task<void> stop() { return client_.stop(); }

 private:
  base::Runtime& runtime_;
  net::Url url_;
  net::HttpClient client_{runtime_, {.max_connections_per_host = 4096, .max_idle_per_host = 4096}};
};

// What all conversations are like.
struct Shape {
  std::string model = "sim";
  unsigned words = 50;       // of each question, about a token each
  unsigned max_tokens = 32;  // that may be sampled in a turn
  bool checked = false;      // at their end they are looked at: all turns in one line
  bool deleted = false;      // at their end they are deleted
};

// One conversation in a session of its own. Each turn sends the whole history again, as agents do,
// with the answers as they were given. What it asks is made from its number: the same in each run.
class Agent {
 public:
  Agent(const Shape& shape, std::uint64_t number, unsigned turns)
      : shape_(&shape), number_(number), turns_(turns) {}

  // The first turn creates the session.
  base::Task<base::Status> turn(Gateway& gateway);
  // Behind the last turn: looks at the session and deletes it, as the shape has it.
  base::Task<base::Status> leave(Gateway& gateway);

  [[nodiscard]] bool ended() const { return asked_ >= turns_; }
  // Of its row behind the last turn, prompt and completion.
  [[nodiscard]] std::uint64_t tokens() const { return tokens_; }
  // Bytes of what both sides said.
  [[nodiscard]] std::uint64_t text_bytes() const { return text_bytes_; }
  // Of the last request.
  [[nodiscard]] std::uint64_t body_bytes() const { return body_.size(); }

 private:
  base::Task<base::Status> begin(Gateway& gateway);
  [[nodiscard]] std::string question() const;
  base::Status keep(std::string answer);
  base::Task<base::Status> check(Gateway& gateway);
  [[nodiscard]] base::Error wrong(const std::string& what) const;

  const Shape* shape_;
  std::uint64_t number_;
  unsigned turns_;
  unsigned asked_ = 0;
  std::string session_;
  std::string body_;  // of the last request, without its end
  std::uint64_t tokens_ = 0, text_bytes_ = 0;
};

}  // namespace verbatim::load
