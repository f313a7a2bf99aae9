#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/runtime.h"
#include "net/http_client.h"
#include "simulate/ledger.h"

namespace verbatim::simulate {

// When an agent goes away before it has its answer.
struct Leave {
  base::Duration after = std::chrono::seconds(400);  // its patience
  std::optional<std::size_t> after_events;           // of the stream
};

struct Post {
  std::string target;
  std::string body;
  std::string request_id;
  std::string door;  // the session that a header names; empty: none
  bool stream = false;
  Leave leave;
  std::function<void(const protocol::ChatResult&)> on_terminal;  // at the terminal event
};

// A whole answer to a plain request; status 0: the connection did not carry it.
struct Reply {
  int status = 0;
  std::string body;
};

// An agent's HTTP client: reads answers as SDKs do, and complains about what no SDK could read.
class ChatClient {
 public:
  ChatClient(base::Runtime& runtime, std::uint16_t port, Findings& findings)
      : runtime_(runtime), port_(port), findings_(findings) {
    renew();
  }

  base::Task<Outcome> chat(const Post& post);
  base::Task<Reply> send(std::string method, std::string target, std::string body,
                         std::string request_id);
  // Closes the connections and starts afresh.
  base::Task<void> reconnect();
  base::Task<void> stop() { return client_->stop(); }

 private:
  struct Running;
  void renew();
  [[nodiscard]] net::ClientRequest request(std::string_view method, std::string_view target) const;
  base::Task<void> read_answer(Running& running);
  base::Task<void> read_refusal(Running& running);
  base::Task<void> read_whole(Running& running);
  base::Task<void> read_stream(Running& running);
  base::Status take_event(Running& running, std::string_view payload);
  [[nodiscard]] base::MonoTime now() const { return runtime_.clock().now(); }

  base::Runtime& runtime_;
  std::uint16_t port_;
  Findings& findings_;
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace verbatim::simulate
