#include "net/http_client.h"

#include <charconv>
#include <utility>

#include "net/client_pool.h"

namespace verbatim::net {

HttpClient::HttpClient(base::Runtime& runtime, ClientOptions options)
    : pool_(std::make_unique<ClientPool>(runtime, std::move(options))) {}
HttpClient::~HttpClient() = default;

base::Task<base::Result<ClientResponse>> HttpClient::request(const ClientRequest& request,
                                                             base::MonoTime deadline) {
  return pool_->request(request, deadline);
}
base::Task<void> HttpClient::stop() {
  return pool_->stop();
}
std::size_t HttpClient::idle_connections() const {
  return pool_->idle();
}

ClientResponse::ClientResponse(std::unique_ptr<ClientConnection> connection)
    : connection_(std::move(connection)) {}
ClientResponse::ClientResponse(ClientResponse&&) noexcept = default;

ClientResponse& ClientResponse::operator=(ClientResponse&& other) noexcept {
  if (this != &other) {
    if (connection_ != nullptr) connection_->pool().give_back(std::move(connection_));
    connection_ = std::move(other.connection_);
  }
  return *this;
}

ClientResponse::~ClientResponse() {
  if (connection_ == nullptr) return;
  ClientPool& pool = connection_->pool();
  pool.give_back(std::move(connection_));
}

int ClientResponse::status() const {
  return connection_->parser().status();
}
const Headers& ClientResponse::headers() const {
  return connection_->parser().headers();
}
bool ClientResponse::length_known() const {
  return connection_->parser().body().kind() != BodyFraming::Kind::kUntilClose;
}

std::optional<std::uint64_t> ClientResponse::content_length() const {
  const std::string_view text = headers().find("content-length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return length;
}

base::Task<base::Result<std::string_view>> ClientResponse::read_arrived(base::MonoTime deadline) {
  return connection_->read_arrived(deadline);
}

bool ClientResponse::arrived() const {
  return connection_->arrived();
}

bool ClientResponse::ended() const {
  return connection_->parser().body().done();
}

base::Task<base::Result<std::string_view>> ClientResponse::read(base::MonoTime deadline) {
  return connection_->read(deadline);
}

base::Task<base::Result<std::string>> ClientResponse::read_all(std::size_t limit,
                                                               base::MonoTime deadline) {
  std::string all;
  for (;;) {
    auto piece = co_await connection_->read(deadline);
    if (!piece.ok()) co_return std::move(piece).error();
    if (piece->empty()) co_return std::move(all);
    if (all.size() + piece->size() > limit) {
      co_return base::error(base::ErrorKind::kTooLarge, "the response's body is larger than " +
                                                            std::to_string(limit) + " bytes");
    }
    all += *piece;
  }
}

void ClientResponse::close() {
  connection_->close();
}

}  // namespace verbatim::net
