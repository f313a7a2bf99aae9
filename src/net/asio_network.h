#pragma once

#include <memory>

#include "base/stream.h"
#include "net/asio_loop.h"

namespace verbatim::net {

// When the kernel acknowledges what arrives on connections that were opened here.
enum class Acks {
  kDelayed,  // as it likes: up to 40 ms later
  // At once, behind every read (one more system call; Linux only, elsewhere as kDelayed). For peers
  // that write small pieces and leave Nagle's algorithm on: they hold each piece back until the one
  // before is acknowledged.
  kAtOnce,
};

// TCP and TLS (client side, the system's certificates, host name verified) on an AsioLoop, which
// must outlive it and its streams. Connections have TCP_NODELAY set.
std::unique_ptr<base::Network> asio_network(AsioLoop& loop, Acks acks = Acks::kDelayed);

}  // namespace verbatim::net
