#include "net/testing/raw_client.h"

#include <cstdlib>
#include <utility>

#include "base/timer.h"

namespace verbatim::net::testing {

base::Task<bool> RawClient::connect(std::uint16_t port) {
  const base::Endpoint to{"127.0.0.1", port, false};
  auto stream = co_await runtime_.network.connect(to, base::kNever);
  if (!stream.ok()) co_return false;
  stream_ = std::move(*stream);
  co_return true;
}

base::Task<bool> RawClient::send(std::string_view bytes) {
  const std::string_view pieces[] = {bytes};
  auto written = co_await base::write_all(*stream_, pieces);
  co_return written.ok();
}

base::Task<bool> RawClient::read_more() {
  if (ended_) co_return false;
  base::Timer limit;
  limit.arm(runtime_.executor.timers(), runtime_.clock().now() + std::chrono::minutes(10),
            [this] { stream_->close(); });
  char buffer[4096];
  auto got = co_await base::read_some(*stream_, buffer);
  if (!got.ok()) co_return false;
  ended_ = *got == 0;
  unread_.append(buffer, *got);
  co_return !ended_;
}

base::Task<std::string> RawClient::read_until(std::string_view text) {
  for (;;) {
    const std::size_t at = text.empty() ? std::string::npos : unread_.find(text);
    if (at != std::string::npos) {
      std::string seen = unread_.substr(0, at + text.size());
      unread_.erase(0, seen.size());
      co_return seen;
    }
    const bool more = co_await read_more();
    if (!more) co_return std::exchange(unread_, {});
  }
}

base::Task<std::string> RawClient::read_answer() {
  std::string head = co_await read_until("\r\n\r\n");
  if (head.find("Transfer-Encoding: chunked") != std::string::npos) {
    std::string body = co_await read_until("0\r\n\r\n");
    co_return head + body;
  }
  const std::size_t at = head.find("Content-Length: ");
  if (at == std::string::npos) co_return head;
  const auto size = static_cast<std::size_t>(std::atoll(head.c_str() + at + 16));
  while (unread_.size() < size) {
    const bool more = co_await read_more();
    if (!more) break;
  }
  head += unread_.substr(0, size);
  unread_.erase(0, size);
  co_return head;
}

base::Task<void> RawClient::close() {
  if (stream_ == nullptr) co_return;
  stream_->close();
  // Nothing is pending here; the turn through the executor lets the peer notice.
  co_await base::sleep_for(runtime_.executor, std::chrono::milliseconds(1));
  stream_.reset();
}

}  // namespace verbatim::net::testing
