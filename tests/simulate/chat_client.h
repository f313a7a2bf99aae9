#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/runtime.h"
#include "net/http_client.h"
#include "simulate/ledger.h"
#include "simulate/settings.h"

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
  std::string door;   // the session that a header names; empty: none
  std::string key;    // Idempotency-Key; empty: none
  std::string count;  // x-stainless-retry-count; empty: none
  unsigned choices = 1;
  bool stream = false;
  Leave leave;
  // At the terminal event of each choice.
  std::function<void(std::uint32_t choice, const protocol::ChatResult&)> on_terminal;
};

// A whole answer to a plain request; status 0: the connection did not carry it.
struct Reply {
  int status = 0;
  std::string body;
};

// An agent's HTTP client: reads answers as SDKs do, and complains about what no SDK could read.
class ChatClient {
 public:
  // `broken` may change header fields on their way, as if the gateway read others.
  ChatClient(base::Runtime& runtime, std::uint16_t port, Findings& findings, Break broken)
      : runtime_(runtime), port_(port), findings_(findings), broken_(broken) {
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
  void name_retry(const Post& post, net::ClientRequest& asked);
  [[nodiscard]] net::ClientRequest request(std::string_view method, std::string_view target) const;
  base::Task<void> read_answer(Running& running);
  base::Task<void> read_refusal(Running& running);
  base::Task<void> read_whole(Running& running);
  base::Task<void> read_stream(Running& running);
  base::Status take_event(Running& running, std::string_view payload);
  // The chunk goes to the reader of its choice, which reads it as that of the only one.
  base::Status read_chunk(Running& running, std::string_view payload);
  [[nodiscard]] base::MonoTime now() const { return runtime_.clock().now(); }

  base::Runtime& runtime_;
  std::uint16_t port_;
  Findings& findings_;
  Break broken_;
  std::uint64_t keys_ = 0;  // that were sent
  std::unique_ptr<net::HttpClient> client_;
};

}  // namespace verbatim::simulate
