#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/runtime.h"
#include "net/http_types.h"
#include "net/url.h"

namespace verbatim::net {

// When a request is sent again, once and on a fresh connection, because a kept one turned out to be
// dead. One that is known to be dead is not used at all: it is looked at right before the write.
enum class RetryPolicy {
  // The server can't have had the whole request: writing it failed.
  kIfUnsent,
  // It ended before the first byte of a response, however much the server had: for requests that
  // may be done twice.
  kIfUnanswered,
};

struct ClientRequest {
  base::Endpoint endpoint;
  std::string_view method = "GET";
  std::string_view target = "/";
  Headers
      headers;  // Host, Content-Length and Connection are the client's to write and left out here
  // Sent one after the other, in one system call with the head where the kernel takes it. Must live
  // until request() is done.
  std::vector<std::string_view> body;
  RetryPolicy retry = RetryPolicy::kIfUnsent;
  // Firing it before the response's head is there closes the connection; request() ends kCancelled.
  // A connect under way is first waited for (at most connect_timeout).
  base::CancelSignal* cancel = nullptr;
};

struct ClientOptions {
  std::string user_agent = "verbatim";  // left out where the request brings its own
  HttpLimits limits;
  std::size_t max_connections_per_host = 1024;  // over it: kUnavailable, code "connection_limit"
  std::size_t max_idle_per_host = 256;
  base::Duration connect_timeout = std::chrono::seconds(5);
  base::Acks acks = base::Acks::kDelayed;
  // Shorter than the 5 s after which common Python servers close an idle connection.
  base::Duration idle_timeout = std::chrono::seconds(4);
};

class ClientConnection;
class ClientPool;

// A response whose head has arrived. Move-only; destroyed, it gives the connection back when the
// body was read to its end, else closes it.
class ClientResponse {
 public:
  ClientResponse(ClientResponse&&) noexcept;
  ClientResponse& operator=(ClientResponse&&) noexcept;
  ~ClientResponse();

  [[nodiscard]] int status() const;
  [[nodiscard]] const Headers& headers() const;
  // False where the body lasts until the server closes: its end can't be told from a cut.
  [[nodiscard]] bool length_known() const;
  // What its head says of the length; an answer to HEAD says it of a body that does not follow.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const;

  // The next bytes of the body, as they came; empty at its proved end. They live until the next
  // call. Errors: kEngine "connection closed before the end" (or bad framing), kTimeout, kCancelled
  // after close(), kTooLarge over the body limit.
  base::Task<base::Result<std::string_view>> read(base::MonoTime deadline = base::kNever);
  // The same, but everything that has arrived, over the borders of chunks: one piece for each read
  // of the socket. At most the connection's buffer.
  base::Task<base::Result<std::string_view>> read_arrived(base::MonoTime deadline = base::kNever);
  // A read would not wait: there is a piece, the end or an error.
  [[nodiscard]] bool arrived() const;
  // The end is proved: nothing follows what was read.
  [[nodiscard]] bool ended() const;
  // The whole rest. kTooLarge over `limit` bytes.
  base::Task<base::Result<std::string>> read_all(std::size_t limit,
                                                 base::MonoTime deadline = base::kNever);
  // Closes the connection; a pending read ends kCancelled. May be called from a cancel hook.
  void close();

 private:
  friend class ClientPool;
  explicit ClientResponse(std::unique_ptr<ClientConnection> connection);
  std::unique_ptr<ClientConnection> connection_;
};

// HTTP/1.1 client with kept connections, on one executor. Destroyed after all its responses and
// after stop().
class HttpClient {
 public:
  explicit HttpClient(base::Runtime& runtime, ClientOptions options = {});
  HttpClient(const HttpClient&) = delete;
  ~HttpClient();

  // Sends and waits for the head of the response, at most until `deadline`. Errors: kUnavailable
  // (connect refused, unknown host, "connection_limit": nothing was sent), kTimeout, kCancelled,
  // kEngine (closed before the head, or not HTTP). Their code names which.
  base::Task<base::Result<ClientResponse>> request(const ClientRequest& request,
                                                   base::MonoTime deadline);
  // Closes the idle connections and waits until none is left.
  base::Task<void> stop();

  [[nodiscard]] std::size_t idle_connections() const;

 private:
  std::unique_ptr<ClientPool> pool_;
};

}  // namespace verbatim::net
