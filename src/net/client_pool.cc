#include "net/client_pool.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace verbatim::net {

ClientPool::~ClientPool() {
  // Reads of these connections still point here: the caller forgot to stop().
  if (!hosts_.empty()) std::abort();
}

ClientPool::Host& ClientPool::host(const base::Endpoint& endpoint) {
  for (const auto& known : hosts_) {
    if (known->endpoint == endpoint) return *known;
  }
  hosts_.push_back(std::make_unique<Host>());
  hosts_.back()->endpoint = endpoint;
  return *hosts_.back();
}

std::unique_ptr<ClientConnection> ClientPool::take_idle(Host& host) {
  while (!host.idle.empty()) {
    auto connection = std::move(host.idle.back());
    host.idle.pop_back();
    connection->leave_idle();
    if (!connection->dead()) return connection;
    retire(std::move(connection));
  }
  return nullptr;
}

base::Task<ClientPool::Connection> ClientPool::connect(const base::Endpoint& endpoint,
                                                       base::MonoTime deadline) {
  Host& to = host(endpoint);
  if (stopping_ || to.open >= options_.max_connections_per_host) {
    base::Error error = base::error(base::ErrorKind::kUnavailable,
                                    stopping_ ? "the HTTP client is stopped"
                                              : "too many connections to " + host_field(endpoint));
    error.code = stopping_ ? "stopped" : "connection_limit";
    if (to.open == 0) closed(endpoint);
    co_return error;
  }
  // Counted while it is being made: a burst of requests must not pass the limit together.
  ++to.open;
  const auto by = std::min(deadline, runtime_.clock().now() + options_.connect_timeout);
  auto stream = co_await runtime_.network.connect(endpoint, by);
  if (!stream.ok()) {
    closed(endpoint);
    base::Error error = std::move(stream).error();
    if (error.code.empty()) error.code = "connect_failed";
    co_return error;
  }
  (*stream)->acknowledge(options_.acks);
  auto connection = std::make_unique<ClientConnection>(*this, runtime_.executor, std::move(*stream),
                                                       endpoint, options_.limits);
  co_return std::move(connection);
}

base::Task<base::Result<ClientResponse>> ClientPool::request(const ClientRequest& request,
                                                             base::MonoTime deadline) {
  std::unique_ptr<ClientConnection> connection = take_idle(host(request.endpoint));
  for (;;) {
    const bool kept = connection != nullptr;
    if (!kept) {
      auto fresh = co_await connect(request.endpoint, deadline);
      if (!fresh.ok()) co_return std::move(fresh).error();
      connection = std::move(*fresh);
    }
    base::Status status;
    if (request.cancel != nullptr && request.cancel->fired()) {
      status = base::error(base::ErrorKind::kCancelled, "the request was given up");
    } else {
      status = co_await connection->exchange(request, options_.user_agent, deadline);
    }
    if (status.ok()) co_return ClientResponse(std::move(connection));
    const bool again = kept && status.error().kind == base::ErrorKind::kEngine &&
                       (request.retry == RetryPolicy::kIfUnanswered ? connection->unanswered()
                                                                    : connection->unsent());
    retire(std::exchange(connection, nullptr));
    if (!again) co_return std::move(status).error();
    // A fresh one follows, so it is again once.
  }
}

void ClientPool::give_back(std::unique_ptr<ClientConnection> connection) {
  Host& of = host(connection->endpoint());
  if (stopping_ || !connection->reusable() || of.idle.size() >= options_.max_idle_per_host) {
    return retire(std::move(connection));
  }
  connection->become_idle(options_.idle_timeout);
  of.idle.push_back(std::move(connection));
}

void ClientPool::drop_idle(ClientConnection& connection) {
  Host& of = host(connection.endpoint());
  const auto at = std::find_if(of.idle.begin(), of.idle.end(),
                               [&](const auto& c) { return c.get() == &connection; });
  if (at == of.idle.end()) return;
  auto dropped = std::move(*at);
  of.idle.erase(at);
  dropped->leave_idle();
  retire(std::move(dropped));
}

// A task of its own: the read that is pending on the connection must end before it is freed.
void ClientPool::retire(std::unique_ptr<ClientConnection> connection) {
  base::spawn(close(std::move(connection)));
}

base::Task<void> ClientPool::close(std::unique_ptr<ClientConnection> connection) {
  connection->close();
  co_await connection->pump().closed();
  const base::Endpoint endpoint = connection->endpoint();
  connection.reset();
  closed(endpoint);
}

void ClientPool::closed(const base::Endpoint& endpoint) {
  const auto at = std::find_if(hosts_.begin(), hosts_.end(),
                               [&](const auto& h) { return h->endpoint == endpoint; });
  if ((*at)->open > 0) --(*at)->open;
  if ((*at)->open == 0) hosts_.erase(at);
  if (!hosts_.empty()) return;
  // Posted: who is woken may destroy this pool.
  for (const auto waiter : std::exchange(stoppers_, {})) {
    runtime_.executor.post([waiter] { waiter.resume(); });
  }
}

struct ClientPool::UntilEmpty {
  ClientPool& pool;
  [[nodiscard]] bool await_ready() const { return pool.hosts_.empty(); }
  void await_suspend(std::coroutine_handle<> h) { pool.stoppers_.push_back(h); }
  void await_resume() const noexcept {}
};

base::Task<void> ClientPool::stop() {
  stopping_ = true;
  std::vector<std::unique_ptr<ClientConnection>> idle;
  for (const auto& each : hosts_) {
    std::move(each->idle.begin(), each->idle.end(), std::back_inserter(idle));
    each->idle.clear();
  }
  for (auto& connection : idle) {
    connection->leave_idle();
    retire(std::move(connection));
  }
  co_await UntilEmpty{*this};
}

std::size_t ClientPool::idle() const {
  std::size_t n = 0;
  for (const auto& each : hosts_) n += each->idle.size();
  return n;
}

}  // namespace verbatim::net
