#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/executor.h"
#include "base/result.h"
#include "base/task.h"

namespace verbatim::base {

// Where the end of one asynchronous operation is delivered: the operation calls complete() exactly
// once, on the executor of its object, never from inside the call that started it.
class IoCompletion {
 public:
  void complete(Result<std::size_t> result) {
    result_.emplace(std::move(result));
    auto waiter = std::exchange(waiter_, {});
    if (waiter) waiter.resume();
  }

 protected:
  std::coroutine_handle<> waiter_;
  std::optional<Result<std::size_t>> result_;
};

// When the system acknowledges what arrives.
enum class Acks {
  kDelayed,  // as it likes: up to 40 ms later
  // At once, behind every read (one more system call; Linux only, elsewhere as kDelayed). For peers
  // that write small pieces and leave Nagle's algorithm on: they hold each piece back until the one
  // before is acknowledged.
  kAtOnce,
};

// A connected, ordered, reliable byte stream. Belongs to one executor. At most one read and one
// write may be pending. Real form: net/asio_network.cc (TCP, TLS); simulated twin:
// base/sim/sim_network.h.
class ByteStream {
 public:
  // Destroying a stream with pending operations is a bug: close() and wait for them.
  virtual ~ByteStream() = default;
  // Reads 1..into.size() bytes; completes with 0 at the end of the stream. `into` must live until
  // then.
  virtual void start_read(std::span<char> into, IoCompletion& done) = 0;
  // Writes all bytes of all pieces with as few system calls as possible; completes with their sum.
  // Pieces and the array that holds them must live until then.
  virtual void start_write(std::span<const std::string_view> pieces, IoCompletion& done) = 0;
  // No more bytes will be written; the peer reads an end of stream.
  virtual void shutdown_write() = 0;
  // Pending operations complete with kCancelled (posted, not from inside this call). Later ones
  // fail with kCancelled. Idempotent.
  virtual void close() = 0;
  // A wish, kDelayed until it is said; streams without acknowledgements have none to give.
  virtual void acknowledge(Acks) {}
  // Something has arrived that no read has taken yet: bytes, the end, or a failure. What the system
  // knows at this moment (one system call); false where it can't be told.
  [[nodiscard]] virtual bool unread() { return false; }
  [[nodiscard]] virtual std::string peer() const = 0;  // "127.0.0.1:51234", for logs
};

namespace detail {
template <class Start>
class IoAwaiter final : IoCompletion {
 public:
  explicit IoAwaiter(Start start) : start_(std::move(start)) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    waiter_ = h;
    start_(static_cast<IoCompletion&>(*this));
  }
  Result<std::size_t> await_resume() { return std::move(*result_); }

 private:
  Start start_;
};
}  // namespace detail

// co_await read_some(stream, buffer) -> Result<size_t>, 0 at the end of the stream.
inline auto read_some(ByteStream& s, std::span<char> into) {
  return detail::IoAwaiter([&s, into](IoCompletion& done) { s.start_read(into, done); });
}
// co_await write_all(stream, pieces) -> Result<size_t>.
inline auto write_all(ByteStream& s, std::span<const std::string_view> pieces) {
  return detail::IoAwaiter([&s, pieces](IoCompletion& done) { s.start_write(pieces, done); });
}

class Listener {
 public:
  virtual ~Listener() = default;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  // The next connection; kCancelled after close().
  virtual Task<Result<std::unique_ptr<ByteStream>>> accept() = 0;
  virtual void close() = 0;
};

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  bool tls = false;
  bool operator==(const Endpoint&) const = default;
};

// Resolve, connect, listen. Belongs to one executor.
class Network {
 public:
  virtual ~Network() = default;
  // Port 0 takes a free one. `shared`: several listeners (one per thread) may hold the same port.
  enum class PortUse { kExclusive, kShared };
  virtual Result<std::unique_ptr<Listener>> listen(const std::string& host, std::uint16_t port,
                                                   PortUse use) = 0;
  // kUnavailable when nobody listens or the name is unknown, kTimeout past the deadline.
  virtual Task<Result<std::unique_ptr<ByteStream>>> connect(const Endpoint& to,
                                                            MonoTime deadline) = 0;
};

}  // namespace verbatim::base
