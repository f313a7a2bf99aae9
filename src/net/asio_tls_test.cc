#include "net/asio_tls.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "net/asio_loop_impl.h"
#include "net/http_client.h"
#include "net/testing/loopback.h"

namespace verbatim::net {
namespace {

using asio::ip::tcp;
using testing::Loopback;

// A fresh key and a certificate for "localhost", signed by itself.
class Certificate {
 public:
  Certificate() : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
    X509_set_version(certificate_, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 3600);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* name = X509_get_subject_name(certificate_);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    X509_EXTENSION* names =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
    X509_add_ext(certificate_, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate_, key_, EVP_sha256());
  }
  Certificate(const Certificate&) = delete;
  ~Certificate() {
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  void write_to(const std::string& path) const {
    BIO* file = BIO_new_file(path.c_str(), "w");
    PEM_write_bio_X509(file, certificate_);
    BIO_free(file);
  }
  [[nodiscard]] EVP_PKEY* key() const { return key_; }
  [[nodiscard]] X509* certificate() const { return certificate_; }

 private:
  EVP_PKEY* key_;
  X509* certificate_;
};

// Answers one request with "ok" and closes TCP without saying goodbye in TLS, as some servers do.
class TlsServer {
 public:
  TlsServer(AsioLoop& loop, const Certificate& certificate)
      : context_(asio::ssl::context::tls_server),
        acceptor_(loop.impl().io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    SSL_CTX_use_certificate(context_.native_handle(), certificate.certificate());
    SSL_CTX_use_PrivateKey(context_.native_handle(), certificate.key());
    acceptor_.async_accept([this](boost::system::error_code code, tcp::socket socket) {
      if (code) return;
      stream_ = std::make_unique<asio::ssl::stream<tcp::socket>>(std::move(socket), context_);
      stream_->async_handshake(asio::ssl::stream_base::server,
                               [this](boost::system::error_code failed) {
                                 if (!failed) read();
                               });
    });
  }
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void read() {
    stream_->async_read_some(
        asio::buffer(buffer_), [this](boost::system::error_code code, std::size_t) {
          if (code) return;
          asio::async_write(
              *stream_, asio::buffer(answer_),
              [this](boost::system::error_code, std::size_t) { stream_->lowest_layer().close(); });
        });
  }
  asio::ssl::context context_;
  tcp::acceptor acceptor_;
  std::unique_ptr<asio::ssl::stream<tcp::socket>> stream_;
  char buffer_[4096];
  std::string answer_ = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
};

base::Task<void> fetch(base::Runtime& runtime, std::string host, std::uint16_t port,
                       std::string& outcome) {
  HttpClient client(runtime);
  ClientRequest request;
  request.endpoint = {host, port, true};
  {
    auto response =
        co_await client.request(request, runtime.clock().now() + std::chrono::seconds(10));
    if (!response.ok()) {
      outcome = response.error().message;
    } else {
      auto body = co_await response->read_all(100);
      outcome = body.ok() ? *body : body.error().message;
    }
  }
  co_await client.stop();
}

TEST(Tls, a_trusted_server_is_spoken_to) {
  const Certificate certificate;
  const auto path = std::filesystem::temp_directory_path() /
                    ("verbatim-tls-" + base::new_hex_id(*base::system_random()));
  certificate.write_to(path.string());
  ::setenv("SSL_CERT_FILE", path.c_str(), 1);
  Loopback on;
  TlsServer server(on.loop, certificate);
  std::string outcome;
  on.run(fetch(on.runtime, "localhost", server.port(), outcome));
  EXPECT_EQ(outcome, "ok");
  ::unsetenv("SSL_CERT_FILE");
  std::filesystem::remove(path);
}

TEST(Tls, a_server_nobody_vouches_for_is_refused) {
  const Certificate certificate;
  Loopback on;
  TlsServer server(on.loop, certificate);
  std::string outcome;
  on.run(fetch(on.runtime, "localhost", server.port(), outcome));
  EXPECT_NE(outcome.find("certificate verify failed"), std::string::npos) << outcome;
}

TEST(Tls, a_certificate_for_another_name_is_refused) {
  const Certificate certificate;
  const auto path = std::filesystem::temp_directory_path() /
                    ("verbatim-tls-" + base::new_hex_id(*base::system_random()));
  certificate.write_to(path.string());
  ::setenv("SSL_CERT_FILE", path.c_str(), 1);
  Loopback on;
  TlsServer server(on.loop, certificate);
  std::string outcome;
  on.run(fetch(on.runtime, "127.0.0.1", server.port(), outcome));
  EXPECT_NE(outcome.find("certificate verify failed"), std::string::npos) << outcome;
  ::unsetenv("SSL_CERT_FILE");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace verbatim::net
