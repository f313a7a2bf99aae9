#include "net/asio_tls.h"

#include <utility>

#include <boost/asio/ssl.hpp>
#include <openssl/ssl.h>

#include "net/asio_stream.h"

namespace verbatim::net {
namespace {

using Socket = asio::ssl::stream<asio::ip::tcp::socket>;

class TlsStream final : public AsioStream<Socket> {
 public:
  using AsioStream<Socket>::AsioStream;

 protected:
  // A peer that ends TCP without close_notify: HTTP's own framing tells whether something is
  // missing.
  [[nodiscard]] bool is_end(const error_code& code) const override {
    return code == asio::error::eof || code == asio::ssl::error::stream_truncated;
  }
};

class SslClient final : public TlsClient {
 public:
  SslClient() : context_(asio::ssl::context::tls_client) {
    error_code ignored;
    context_.set_default_verify_paths(ignored);
    context_.set_verify_mode(asio::ssl::verify_peer, ignored);
    SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION);
  }

  std::function<void()> handshake(asio::ip::tcp::socket socket, const std::string& host,
                                  Done done) override {
    auto stream = std::make_shared<Socket>(std::move(socket), context_);
    // Not the macro SSL_set_tlsext_host_name: it holds an old-style cast.
    SSL_ctrl(stream->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(host.c_str()));
    error_code ignored;
    stream->set_verify_callback(asio::ssl::host_name_verification(host), ignored);
    stream->async_handshake(Socket::client, [stream, done = std::move(done)](error_code code) {
      if (code)
        return done(
            base::error(base::ErrorKind::kUnavailable, "TLS handshake failed: " + code.message()));
      std::unique_ptr<base::ByteStream> ready = std::make_unique<TlsStream>(std::move(*stream));
      done(std::move(ready));
    });
    return [stream] {
      error_code nothing;
      stream->lowest_layer().close(nothing);
    };
  }

 private:
  asio::ssl::context context_;
};

}  // namespace

std::unique_ptr<TlsClient> make_tls_client() {
  return std::make_unique<SslClient>();
}

}  // namespace verbatim::net
