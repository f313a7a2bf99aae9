#pragma once

#include <memory>

#include "base/stream.h"
#include "net/asio_loop.h"

namespace verbatim::net {

// TCP and TLS (client side, the system's certificates, host name verified) on an AsioLoop, which
// must outlive it and its streams. Connections have TCP_NODELAY set.
std::unique_ptr<base::Network> asio_network(AsioLoop& loop);

}  // namespace verbatim::net
