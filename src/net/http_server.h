#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/metrics.h"
#include "base/runtime.h"
#include "net/http_types.h"

namespace verbatim::net {

class ServerConnection;

// With this handlers are cancelled whose server ends; told by its address.
inline constexpr char kShuttingDown[] = "shutting down";

// co_await one of Responder's calls -> Status. Starts when awaited; what was passed in must live
// until then and until it is done.
class ResponseWrite final : base::IoCompletion {
 public:
  ResponseWrite(ResponseWrite&&) = delete;
  [[nodiscard]] bool await_ready() const noexcept { return connection_ == nullptr; }
  void await_suspend(std::coroutine_handle<> waiter);
  base::Status await_resume();

 private:
  friend class ServerConnection;
  explicit ResponseWrite(base::Status failed) : failed_(std::move(failed)) {}
  ResponseWrite(ServerConnection& connection, std::span<const std::string_view> body);
  static constexpr std::size_t kMaxPieces = 8;

  ServerConnection* connection_ = nullptr;  // nullptr: nothing to wait for, failed_ is the answer
  base::Status failed_;
  std::string_view pieces_[kMaxPieces];
  std::size_t count_ = 0;
};

// What tells a client where the body of a streamed answer ends.
struct BodyEnd {
  enum class Kind {
    kChunked,  // its last chunk (HTTP/1.0: as kClose)
    kLength,   // Content-Length: `length` bytes must follow, and no other number of them
    kClose,    // the end of the connection: a client can't tell it from a cut
  };
  Kind kind = Kind::kChunked;
  std::uint64_t length = 0;
};

// The answer to one request: either send(), or begin_stream(), write()..., end(). Server, Date,
// Connection, Content-Length and Transfer-Encoding are written by the server; such fields in
// `headers` are left out, as are fields that would break the framing. Every call fails with
// kCancelled once the connection is gone. Lives as long as the handler's task; calls must not
// overlap.
class Responder {
 public:
  explicit Responder(ServerConnection& connection) : connection_(connection) {}
  Responder(const Responder&) = delete;

  // A whole answer in one system call. An answer to HEAD, 204 and 304 has no body on the wire.
  [[nodiscard]] ResponseWrite send(int status, std::string_view content_type,
                                   std::string_view body);
  [[nodiscard]] ResponseWrite send(int status, const Headers& headers, std::string_view body);

  // The head of an answer whose body comes piece by piece. It is kept back and leaves with the
  // first write(), in one system call; flush_head() sends it alone.
  [[nodiscard]] base::Status begin_stream(int status, std::string_view content_type);
  [[nodiscard]] base::Status begin_stream(int status, const Headers& headers, BodyEnd end = {});
  [[nodiscard]] ResponseWrite flush_head();
  // One chunk, one system call. An empty piece writes nothing.
  [[nodiscard]] ResponseWrite write(std::string_view piece);
  [[nodiscard]] ResponseWrite write(
      std::span<const std::string_view> pieces);  // at most 4, as one chunk
  // The last piece (may be empty) and the end, in one system call. Fewer bytes than BodyEnd::length
  // says are a cut: the connection is closed.
  [[nodiscard]] ResponseWrite end(std::string_view last_piece = {});
  // Closes the connection without an end: the client sees that the answer was cut.
  void fail();

  [[nodiscard]] bool begun() const;  // a status was chosen
  [[nodiscard]] int status() const;  // the one chosen; 0: none
  // By which logs and records know the request: the client's own X-Request-Id where that is UTF-8
  // of at most 512 bytes, else one that is drawn. Until the next request.
  [[nodiscard]] std::string_view request_id();

 private:
  ServerConnection& connection_;
};

struct ServerOptions {
  std::string name = "verbatim";  // Server:
  HttpLimits limits;
  std::size_t read_ahead = 64 * 1024;       // bytes of later requests kept while a handler runs
  std::size_t max_connections = 16 * 1024;  // one more is answered 503 and closed
  base::Duration header_timeout = std::chrono::seconds(30);  // first byte to end of the head: 408
  base::Duration body_timeout = std::chrono::seconds(30);    // without a byte of the body: 408
  base::Duration idle_timeout = std::chrono::seconds(75);    // between requests: closed
  // For one write; a write of n bytes is given n / 16 KiB seconds more. Over it the connection is
  // closed.
  base::Duration write_timeout = std::chrono::seconds(30);
  base::Duration linger_timeout =
      std::chrono::seconds(2);  // unread bytes are dropped before a closing error answer is cut off
  base::Duration last_words = std::chrono::seconds(2);  // see HttpServer::drain()
  base::Metrics* metrics = nullptr;                     // null: nobody counts
  // Each answer says X-Request-Id, those of this layer too: what its handler says, else
  // Responder::request_id().
  bool request_ids = false;
};

// An HTTP/1.1 and 1.0 server on one executor. Life: created, start()ed, drain()ed or stop()ped to
// the end, destroyed; all on the executor's thread. One per thread; with PortUse::kShared they
// listen on the same port.
//
// Requests of one connection are handled one after the other, in order. While a handler runs, up to
// `read_ahead` bytes of what comes next are read; end of stream or reset in that time fires the
// handler's CancelSignal at once. With that many bytes unread the server stops reading, and sees a
// lost client at its next write only.
class HttpServer {
 public:
  // Runs for each whole request. The arguments live until the task ends. A task that ends without
  // an answer is answered 500; one that ends within a stream closes the connection.
  using Handler = std::function<base::Task<void>(const Request&, Responder&, base::CancelSignal&)>;

  HttpServer(base::Runtime& runtime, Handler handler, ServerOptions options = {});
  HttpServer(const HttpServer&) = delete;
  ~HttpServer();

  // Listens and serves; the port taken. Errors: kUnavailable with the system's reason.
  base::Result<std::uint16_t> start(
      const std::string& host, std::uint16_t port,
      base::Network::PortUse use = base::Network::PortUse::kExclusive);
  // Stops accepting, closes idle connections, lets running handlers finish; further requests on
  // their connections are answered 503 and closed. At `deadline` what still runs is cancelled
  // (kShuttingDown), and may say so to its client: `last_words` later its connection is closed.
  // Returns when no connection is left.
  base::Task<void> drain(base::MonoTime deadline);
  // The deadline of a drain(), of one that is yet to come too, is now.
  void hurry();
  // Cancels and closes all at once. Returns when no connection is left.
  base::Task<void> stop();

  [[nodiscard]] std::size_t connections() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace verbatim::net
