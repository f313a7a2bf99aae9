#pragma once

#include <coroutine>
#include <optional>
#include <string>
#include <vector>

#include "base/timer.h"
#include "net/http_server.h"
#include "net/server_connection.h"
#include "net/server_metrics.h"

namespace verbatim::net {

// HttpServer behind its interface: the loop that accepts, and the list of living connections. Life
// and thread: the server's. Connections own themselves and are in the list from add() to remove();
// drain() ends when it is empty.
class HttpServer::Impl {
 public:
  Impl(base::Runtime& rt, Handler h, ServerOptions o)
      : runtime(rt), handler(std::move(h)), options(std::move(o)) {
    if (options.metrics != nullptr) metrics.emplace(*options.metrics);
  }
  ~Impl();

  base::Result<std::uint16_t> start(const std::string& host, std::uint16_t port,
                                    base::Network::PortUse use);
  base::Task<void> drain(base::MonoTime deadline);
  void hurry();
  base::Task<void> stop();
  void add(ServerConnection& connection);
  void remove(ServerConnection& connection);
  // "Server: ...\r\nDate: ...\r\n", made once a second.
  [[nodiscard]] std::string_view standard_fields();

  base::Runtime& runtime;
  Handler handler;
  ServerOptions options;
  std::optional<ServerMetrics> metrics;
  bool draining = false;
  std::size_t serving = 0;
  std::size_t refusing = 0;

 private:
  base::Task<void> accept_loop();
  void take(std::unique_ptr<base::ByteStream> stream);
  void begin_drain();
  // Cancels what runs, and closes what is left of it a little later.
  void end_all();
  template <class F>
  void for_each(F&& action);
  void wake_when_empty();

  std::unique_ptr<base::Listener> listener_;
  bool accepting_ = false;
  ServerConnection* first_ = nullptr;
  std::vector<std::coroutine_handle<>> drainers_;
  base::Timer timer_;  // of drain()
  bool hurried_ = false;
  std::string standard_fields_;
  std::int64_t standard_second_ = -1;

  friend struct UntilEmpty;
};

}  // namespace verbatim::net
