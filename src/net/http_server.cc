#include "net/http_server.h"

#include <cstdlib>
#include <utility>

#include "base/timer.h"
#include "net/server_impl.h"

namespace verbatim::net {
namespace {
constexpr std::size_t kMaxRefusing = 64;  // connections over the limit that get an answer at a time
constexpr base::Duration kAcceptPause = std::chrono::milliseconds(50);  // out of file descriptors
}  // namespace

HttpServer::HttpServer(base::Runtime& runtime, Handler handler, ServerOptions options)
    : impl_(std::make_unique<Impl>(runtime, std::move(handler), std::move(options))) {}
HttpServer::~HttpServer() = default;

base::Result<std::uint16_t> HttpServer::start(const std::string& host, std::uint16_t port,
                                              base::Network::PortUse use) {
  return impl_->start(host, port, use);
}
base::Task<void> HttpServer::drain(base::MonoTime deadline) {
  return impl_->drain(deadline);
}
void HttpServer::hurry() {
  impl_->hurry();
}
base::Task<void> HttpServer::stop() {
  return impl_->stop();
}
std::size_t HttpServer::connections() const {
  return impl_->serving + impl_->refusing;
}

HttpServer::Impl::~Impl() {
  // Handlers and reads still hold this: the caller forgot to drain().
  if (accepting_ || first_ != nullptr) std::abort();
}

base::Result<std::uint16_t> HttpServer::Impl::start(const std::string& host, std::uint16_t port,
                                                    base::Network::PortUse use) {
  auto listener = runtime.network.listen(host, port, use);
  if (!listener.ok()) return std::move(listener).error();
  listener_ = std::move(*listener);
  accepting_ = true;
  base::spawn(accept_loop());
  return listener_->port();
}

base::Task<void> HttpServer::Impl::accept_loop() {
  while (!draining) {
    auto stream = co_await listener_->accept();
    if (stream.ok()) {
      take(std::move(*stream));
    } else if (!draining) {
      co_await base::sleep_for(runtime.executor, kAcceptPause);
    }
  }
  accepting_ = false;
  wake_when_empty();
}

void HttpServer::Impl::take(std::unique_ptr<base::ByteStream> stream) {
  const bool serve = serving < options.max_connections && !draining;
  if (!serve && refusing >= kMaxRefusing) {
    stream->close();
    return;
  }
  const auto role = serve ? ServerConnection::Role::kServe : ServerConnection::Role::kRefuse;
  (new ServerConnection(*this, std::move(stream), role))->start();  // owns itself
}

void HttpServer::Impl::add(ServerConnection& connection) {
  connection.list_next = first_;
  if (first_ != nullptr) first_->list_prev = &connection;
  first_ = &connection;
  if (metrics) metrics->connected();
  ++(connection.role() == ServerConnection::Role::kServe ? serving : refusing);
}

void HttpServer::Impl::remove(ServerConnection& connection) {
  (connection.list_prev != nullptr ? connection.list_prev->list_next : first_) =
      connection.list_next;
  if (connection.list_next != nullptr) connection.list_next->list_prev = connection.list_prev;
  --(connection.role() == ServerConnection::Role::kServe ? serving : refusing);
  if (metrics) metrics->disconnected();
  wake_when_empty();
}

void HttpServer::Impl::wake_when_empty() {
  if (accepting_ || first_ != nullptr) return;
  // Posted: who is woken may destroy the server, and with it what calls this.
  for (const auto waiter : std::exchange(drainers_, {})) {
    runtime.executor.post([waiter] { waiter.resume(); });
  }
}

// co_await: until no connection is left.
struct UntilEmpty {
  HttpServer::Impl& impl;
  [[nodiscard]] bool await_ready() const { return !impl.accepting_ && impl.first_ == nullptr; }
  void await_suspend(std::coroutine_handle<> h) { impl.drainers_.push_back(h); }
  void await_resume() const noexcept {}
};

// What is done to connections ends one only later, by the executor: the list does not change under
// the loop.
template <class F>
void HttpServer::Impl::for_each(F&& action) {
  for (ServerConnection* c = first_; c != nullptr;) {
    ServerConnection& connection = *c;
    c = c->list_next;
    action(connection);
  }
}

void HttpServer::Impl::begin_drain() {
  draining = true;
  if (listener_ != nullptr) listener_->close();
  for_each([](ServerConnection& connection) { connection.drain(); });
}

base::Task<void> HttpServer::Impl::drain(base::MonoTime deadline) {
  begin_drain();
  if (hurried_ || deadline <= runtime.clock().now()) {
    end_all();
  } else if (deadline != base::kNever) {
    timer_.arm(runtime.executor.timers(), deadline, [this] { end_all(); });
  }
  co_await UntilEmpty{*this};
  timer_.cancel();
}

base::Task<void> HttpServer::Impl::stop() {
  begin_drain();
  for_each([](ServerConnection& connection) { connection.abort(kShuttingDown); });
  co_await UntilEmpty{*this};
}

void HttpServer::Impl::hurry() {
  if (std::exchange(hurried_, true) || !draining) return;
  timer_.cancel();
  end_all();
}

void HttpServer::Impl::end_all() {
  const auto words_end = runtime.clock().now() + options.last_words;
  timer_.arm(runtime.executor.timers(), words_end, [this] {
    for_each([](ServerConnection& connection) { connection.abort(kShuttingDown); });
  });
  for_each([](ServerConnection& connection) { connection.cancel(kShuttingDown); });
}

std::string_view HttpServer::Impl::standard_fields() {
  const std::int64_t second = runtime.clock().wall_ms() / 1000;
  if (second != standard_second_) {
    standard_second_ = second;
    standard_fields_ = "Server: " + options.name + "\r\nDate: " + http_date(second) + "\r\n";
  }
  return standard_fields_;
}

}  // namespace verbatim::net
