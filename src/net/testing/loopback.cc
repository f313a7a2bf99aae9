#include "net/testing/loopback.h"

#include <utility>

namespace verbatim::net::testing {
namespace {

base::Task<void> then_stop(base::Task<void> task, AsioLoop& loop) {
  co_await std::move(task);
  loop.stop();
}

}  // namespace

Loopback::Loopback()
    : network(asio_network(loop)), runtime{loop, *network, *random_, *files_, *worker_} {}

void Loopback::run(base::Task<void> task) {
  auto shared = std::make_shared<base::Task<void>>(then_stop(std::move(task), loop));
  loop.post([shared] { base::spawn(std::move(*shared)); });
  loop.run();
}

}  // namespace verbatim::net::testing
