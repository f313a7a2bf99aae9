#pragma once

// Asio sockets behind base::ByteStream: for net/asio_*.cc only. One template for plain and TLS
// sockets.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <netinet/tcp.h>
#include <poll.h>

#include "base/stream.h"

namespace verbatim::net {

namespace asio = boost::asio;
using boost::system::error_code;

inline base::Error stream_error(const char* what, const error_code& code) {
  if (code == asio::error::operation_aborted)
    return base::error(base::ErrorKind::kCancelled, "the connection was closed");
  return base::error(base::ErrorKind::kUnavailable, std::string(what) + ": " + code.message());
}

// `Socket`: tcp::socket, or an ssl::stream over one.
template <class Socket>
class AsioStream : public base::ByteStream {
 public:
  explicit AsioStream(Socket socket) : socket_(std::move(socket)) {}
  ~AsioStream() override {
    if (pending_ != 0) std::abort();  // a handler would write into freed memory
  }

  void start_read(std::span<char> into, base::IoCompletion& done) override {
    ++pending_;
    socket_.async_read_some(
        asio::buffer(into.data(), into.size()), [this, &done](error_code code, std::size_t n) {
          --pending_;
          if (!code) {
            if (acks_ == base::Acks::kAtOnce) acknowledge_now();
            return done.complete(n);
          }
          if (closed_) return done.complete(stream_error("", asio::error::operation_aborted));
          if (is_end(code)) return done.complete(std::size_t{0});
          done.complete(stream_error("can't read", code));
        });
  }

  void start_write(std::span<const std::string_view> pieces, base::IoCompletion& done) override {
    ++pending_;
    buffers_.clear();
    for (const std::string_view piece : pieces) {
      if (!piece.empty()) buffers_.emplace_back(piece.data(), piece.size());
    }
    const std::span<const asio::const_buffer> all(buffers_);
    asio::async_write(socket_, all, [this, &done](error_code code, std::size_t n) {
      --pending_;
      if (!code && !closed_) return done.complete(n);
      if (closed_) return done.complete(stream_error("", asio::error::operation_aborted));
      done.complete(stream_error("can't write", code));
    });
  }

  void shutdown_write() override {
    error_code ignored;
    lowest().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  }

  void close() override {
    closed_ = true;
    error_code ignored;
    lowest().close(ignored);
  }

  void acknowledge(base::Acks when) override { acks_ = when; }

  // TLS counts too: what comes in unasked is an alert or the end.
  [[nodiscard]] bool unread() override {
    pollfd here{lowest().native_handle(), POLLIN, 0};
    return !closed_ && ::poll(&here, 1, 0) > 0;
  }

  [[nodiscard]] std::string peer() const override {
    error_code code;
    const auto end = const_cast<AsioStream*>(this)->lowest().remote_endpoint(code);
    if (code) return "?";
    const std::string address = end.address().to_string();
    return (end.address().is_v6() ? "[" + address + "]" : address) + ":" +
           std::to_string(end.port());
  }

 protected:
  [[nodiscard]] virtual bool is_end(const error_code& code) const {
    return code == asio::error::eof;
  }

 private:
  // The kernel forgets the mode after a while, so it is set again and again.
  void acknowledge_now() {
#ifdef TCP_QUICKACK
    using QuickAck = asio::detail::socket_option::boolean<IPPROTO_TCP, TCP_QUICKACK>;
    error_code ignored;
    lowest().set_option(QuickAck(true), ignored);
#endif
  }

  [[nodiscard]] auto& lowest() { return socket_.lowest_layer(); }

  Socket socket_;
  std::vector<asio::const_buffer> buffers_;
  unsigned pending_ = 0;
  bool closed_ = false;
  base::Acks acks_ = base::Acks::kDelayed;
};

}  // namespace verbatim::net
