#include "net/asio_network.h"

#include <coroutine>
#include <optional>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <sys/socket.h>

#include "base/timer.h"
#include "net/asio_loop_impl.h"
#include "net/asio_stream.h"
#include "net/asio_tls.h"

namespace verbatim::net {
namespace {

using asio::ip::tcp;
using base::ByteStream;
using base::ErrorKind;
using base::Result;
using StreamResult = Result<std::unique_ptr<ByteStream>>;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr int kBacklog = 4096;

class AsioListener final : public base::Listener {
 public:
  explicit AsioListener(tcp::acceptor acceptor)
      : acceptor_(std::move(acceptor)), port_(acceptor_.local_endpoint().port()) {}

  [[nodiscard]] std::uint16_t port() const override { return port_; }

  base::Task<StreamResult> accept() override {
    Accept accept{acceptor_, {}, std::nullopt};
    co_await accept;
    if (closed_) co_return base::error(ErrorKind::kCancelled, "the listener was closed");
    if (accept.code) co_return stream_error("can't accept", accept.code);
    error_code ignored;
    accept.socket->set_option(tcp::no_delay(true), ignored);
    std::unique_ptr<ByteStream> stream =
        std::make_unique<AsioStream<tcp::socket>>(std::move(*accept.socket));
    co_return stream;
  }

  void close() override {
    closed_ = true;
    error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  struct Accept {
    tcp::acceptor& acceptor;
    error_code code;
    std::optional<tcp::socket> socket;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
      acceptor.async_accept([this, h](error_code c, tcp::socket s) {
        code = c;
        socket.emplace(std::move(s));
        h.resume();
      });
    }
    void await_resume() const noexcept {}
  };

  tcp::acceptor acceptor_;
  std::uint16_t port_;
  bool closed_ = false;
};

// One connect: resolve, connect, TLS handshake, against one deadline. Shared with the handlers,
// because a name look-up that the system is working on can't be called back: at the deadline the
// waiter goes on, and the handler finds nobody.
class Connect final : public std::enable_shared_from_this<Connect> {
 public:
  Connect(AsioLoop& loop, base::Endpoint to, TlsClient* tls)
      : loop_(loop),
        to_(std::move(to)),
        tls_(tls),
        resolver_(loop.impl().io),
        socket_(loop.impl().io) {}

  void start(base::MonoTime deadline, std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    if (deadline != base::kNever) {
      timer_.arm(loop_.timers(), deadline, [self = shared_from_this()] {
        self->end(base::error(ErrorKind::kTimeout, self->what("timed out")));
      });
    }
    error_code code;
    const auto address = asio::ip::make_address(to_.host, code);
    if (!code) {
      const tcp::endpoint end(address, to_.port);
      connect(tcp::resolver::results_type::create(end, to_.host, std::to_string(to_.port)));
      return;
    }
    resolver_.async_resolve(
        to_.host, std::to_string(to_.port),
        [self = shared_from_this()](error_code failed, auto found) {
          if (!self->waiter_) return;
          if (failed)
            return self->end(base::error(ErrorKind::kUnavailable, self->what(failed.message())));
          self->connect(std::move(found));
        });
  }

  StreamResult take() { return std::move(*result_); }

 private:
  [[nodiscard]] std::string what(const std::string& reason) const {
    return "can't connect to " + to_.host + ":" + std::to_string(to_.port) + ": " + reason;
  }

  void connect(tcp::resolver::results_type ends) {
    asio::async_connect(
        socket_, ends, [self = shared_from_this()](error_code failed, const tcp::endpoint&) {
          if (!self->waiter_) return;
          if (failed)
            return self->end(base::error(ErrorKind::kUnavailable, self->what(failed.message())));
          self->connected();
        });
  }

  void connected() {
    error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    if (tls_ == nullptr) {
      std::unique_ptr<ByteStream> stream =
          std::make_unique<AsioStream<tcp::socket>>(std::move(socket_));
      return end(std::move(stream));
    }
    handshake_ = tls_->handshake(
        std::move(socket_), to_.host, [self = shared_from_this()](StreamResult result) {
          if (!self->waiter_) return;
          if (!result.ok())
            return self->end(
                base::error(ErrorKind::kUnavailable, self->what(result.error().message)));
          self->end(std::move(result));
        });
  }

  void end(StreamResult result) {
    timer_.cancel();
    error_code ignored;
    resolver_.cancel();
    socket_.close(ignored);
    if (handshake_) std::exchange(handshake_, nullptr)();
    result_.emplace(std::move(result));
    // Only ever called from a handler or the timer, never from start().
    std::exchange(waiter_, {}).resume();
  }

  AsioLoop& loop_;
  base::Endpoint to_;
  TlsClient* tls_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  base::Timer timer_;
  std::function<void()> handshake_;  // aborts it
  std::coroutine_handle<> waiter_;
  std::optional<StreamResult> result_;
};

struct ConnectAwaiter {
  Connect& connect;
  base::MonoTime deadline;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) { connect.start(deadline, h); }
  void await_resume() const noexcept {}
};

class AsioNetwork final : public base::Network {
 public:
  explicit AsioNetwork(AsioLoop& loop) : loop_(loop) {}

  Result<std::unique_ptr<base::Listener>> listen(const std::string& host, std::uint16_t port,
                                                 PortUse use) override {
    const auto failed = [&](const error_code& code) {
      return base::error(ErrorKind::kUnavailable, "can't listen on " + host + ":" +
                                                      std::to_string(port) + ": " + code.message());
    };
    error_code code;
    const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, code);
    if (code) return base::invalid("host", "\"" + host + "\" is no IP address to listen on");
    const tcp::endpoint at(address, port);
    tcp::acceptor acceptor(loop_.impl().io);
    acceptor.open(at.protocol(), code);
    if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
    if (!code && use == PortUse::kShared) acceptor.set_option(ReusePort(true), code);
    if (!code) acceptor.bind(at, code);
    if (!code) acceptor.listen(kBacklog, code);
    if (code) return failed(code);
    std::unique_ptr<base::Listener> listener = std::make_unique<AsioListener>(std::move(acceptor));
    return listener;
  }

  base::Task<StreamResult> connect(const base::Endpoint& to, base::MonoTime deadline) override {
    if (to.tls && tls_ == nullptr) tls_ = make_tls_client();
    const auto connect = std::make_shared<Connect>(loop_, to, to.tls ? tls_.get() : nullptr);
    co_await ConnectAwaiter{*connect, deadline};
    co_return connect->take();
  }

 private:
  AsioLoop& loop_;
  std::unique_ptr<TlsClient> tls_;
};

}  // namespace

std::unique_ptr<base::Network> asio_network(AsioLoop& loop) {
  return std::make_unique<AsioNetwork>(loop);
}

}  // namespace verbatim::net
