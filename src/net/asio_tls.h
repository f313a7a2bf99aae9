#pragma once

// TLS for net/asio_network.cc only; compiled apart because its templates are the dearest of all.
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "base/stream.h"

namespace verbatim::net {

class TlsClient {
 public:
  using Done = std::function<void(base::Result<std::unique_ptr<base::ByteStream>>)>;
  virtual ~TlsClient() = default;
  // Shakes hands over a connected socket, verifying the peer's certificate for `host`. `done` is
  // called once, from a handler, unless the returned function aborts it before.
  virtual std::function<void()> handshake(boost::asio::ip::tcp::socket socket,
                                          const std::string& host, Done done) = 0;
};

// Trusts the system's certificates (SSL_CERT_FILE and SSL_CERT_DIR count). TLS 1.2 and later.
std::unique_ptr<TlsClient> make_tls_client();

}  // namespace verbatim::net
