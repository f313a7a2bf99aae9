#include "base/sim/sim_network.h"

#include <cstdlib>
#include <deque>
#include <utility>

#include "base/sim/sim_pipe.h"

namespace verbatim::base::sim {
namespace {

constexpr Duration kSystemConnectTimeout = std::chrono::seconds(130);

class SimStream final : public ByteStream {
 public:
  SimStream(std::shared_ptr<SimPipe> in, std::shared_ptr<SimPipe> out, std::string peer)
      : in_(std::move(in)), out_(std::move(out)), peer_(std::move(peer)) {}
  ~SimStream() override {
    if (in_->read_pending() || out_->write_pending())
      std::abort();  // completion would touch freed memory
    SimStream::close();
  }

  void start_read(std::span<char> into, IoCompletion& done) override {
    in_->start_read(into, done);
  }
  void start_write(std::span<const std::string_view> pieces, IoCompletion& done) override {
    out_->start_write(pieces, done);
  }
  void shutdown_write() override { out_->send_end(); }
  void close() override { out_->close_writer(in_->close_reader()); }
  [[nodiscard]] bool unread() override { return in_->unread(); }
  [[nodiscard]] std::string peer() const override { return peer_; }

 private:
  std::shared_ptr<SimPipe> in_;
  std::shared_ptr<SimPipe> out_;
  std::string peer_;
};

// co_await: behind the jobs that are ready now.
struct Hop {
  Executor& executor;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    executor.post([h] { h.resume(); });
  }
  void await_resume() const noexcept {}
};

}  // namespace

class SimListener final : public Listener {
 public:
  SimListener(SimNetwork& network, std::uint16_t port, Network::PortUse use)
      : network_(network), port_(port), use_(use), at_(network.listeners_.emplace(port, this)) {}
  ~SimListener() override { SimListener::close(); }

  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] Network::PortUse use() const { return use_; }

  Task<Result<std::unique_ptr<ByteStream>>> accept() override {
    if (!closed_ && waiting_.empty()) co_await Arrival{*this};
    if (closed_) co_return error(ErrorKind::kCancelled, "the listener was closed");
    auto stream = std::move(waiting_.front());
    waiting_.pop_front();
    co_return std::move(stream);
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    network_.listeners_.erase(at_);
    waiting_.clear();
    wake();
  }

  void arrive(std::unique_ptr<ByteStream> stream) {
    waiting_.push_back(std::move(stream));
    wake();
  }

 private:
  struct Arrival {
    SimListener& listener;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { listener.acceptor_ = h; }
    void await_resume() const noexcept {}
  };
  void wake() {
    if (!acceptor_) return;
    network_.executor_.post([h = std::exchange(acceptor_, {})] { h.resume(); });
  }

  SimNetwork& network_;
  std::uint16_t port_;
  Network::PortUse use_;
  std::multimap<std::uint16_t, SimListener*>::iterator at_;
  std::deque<std::unique_ptr<ByteStream>> waiting_;
  std::coroutine_handle<> acceptor_;
  bool closed_ = false;
};

SimNetwork::SimNetwork(SimExecutor& executor, std::uint64_t seed, SimNetworkOptions options)
    : executor_(executor), random_(seed), options_(options) {}
SimNetwork::~SimNetwork() = default;

Result<std::unique_ptr<Listener>> SimNetwork::listen(const std::string& host, std::uint16_t port,
                                                     PortUse use) {
  if (port == 0) {
    while (listeners_.contains(next_port_)) ++next_port_;
    port = next_port_++;
  }
  const auto [first, last] = listeners_.equal_range(port);
  for (auto it = first; it != last; ++it) {
    if (use == PortUse::kExclusive || it->second->use() == PortUse::kExclusive) {
      return error(ErrorKind::kUnavailable, "can't listen on " + host + ":" + std::to_string(port) +
                                                ": Address already in use");
    }
  }
  return std::unique_ptr<Listener>(std::make_unique<SimListener>(*this, port, use));
}

Duration SimNetwork::draw_latency() {
  const auto spread =
      static_cast<std::uint64_t>((options_.max_latency - options_.min_latency).count());
  return options_.min_latency +
         Duration(static_cast<std::int64_t>(spread == 0 ? 0 : random_.below(spread + 1)));
}

std::unique_ptr<ByteStream> SimNetwork::join(SimListener& listener) {
  const auto up = std::make_shared<SimPipe>(*this);
  const auto down = std::make_shared<SimPipe>(*this);
  SimPipe::link(up, down);
  const std::string client = "10.0.0.1:" + std::to_string(next_client_);
  next_client_ =
      next_client_ == 65535 ? std::uint16_t{50000} : static_cast<std::uint16_t>(next_client_ + 1);
  listener.arrive(std::make_unique<SimStream>(up, down, client));
  return std::make_unique<SimStream>(down, up, "10.0.0.2:" + std::to_string(listener.port()));
}

Task<Result<std::unique_ptr<ByteStream>>> SimNetwork::connect(const Endpoint& to,
                                                              MonoTime deadline) {
  // The caller's may be gone after the first wait.
  const Endpoint endpoint = to;  // NOLINT(performance-unnecessary-copy-initialization)
  const std::string what =
      "can't connect to " + endpoint.host + ":" + std::to_string(endpoint.port) + ": ";
  ++faults_.connects;
  MonoTime arrives = executor_.clock().now() + draw_latency();
  const bool blackholed = random_.chance(options_.blackhole);
  if (blackholed) {
    ++faults_.blackholed;
    arrives = executor_.clock().now() + kSystemConnectTimeout;
  }
  co_await Hop{executor_};
  co_await sleep_until(executor_, std::min(arrives, deadline));
  if (blackholed || arrives > deadline) co_return error(ErrorKind::kTimeout, what + "timed out");
  const bool refused = random_.chance(options_.refuse);
  if (refused) ++faults_.refused;
  const auto listeners = static_cast<std::uint64_t>(listeners_.count(endpoint.port));
  if (refused || listeners == 0)
    co_return error(ErrorKind::kUnavailable, what + "Connection refused");
  auto at = listeners_.lower_bound(endpoint.port);
  for (std::uint64_t skip = random_.below(listeners); skip > 0; --skip) ++at;
  co_return join(*at->second);
}

}  // namespace verbatim::base::sim
