#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/runtime.h"
#include "base/task.h"

namespace verbatim::net::testing {

// Speaks raw bytes to a server, for tests of what is on the wire. Must be closed with `co_await
// close()`.
class RawClient {
 public:
  explicit RawClient(base::Runtime& runtime) : runtime_(runtime) {}
  RawClient(const RawClient&) = delete;

  base::Task<bool> connect(std::uint16_t port);
  base::Task<bool> send(std::string_view bytes);
  // Reads until `text` has been seen, the end, an error, or ten minutes; all that came since the
  // last call.
  base::Task<std::string> read_until(std::string_view text);
  base::Task<std::string> read_to_end() { return read_until({}); }
  // One whole answer, by Content-Length or last chunk.
  base::Task<std::string> read_answer();
  void shutdown_write() { stream_->shutdown_write(); }
  base::Task<void> close();
  // After read_to_end(): the stream ended in order.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  base::Task<bool> read_more();
  base::Runtime& runtime_;
  std::unique_ptr<base::ByteStream> stream_;
  std::string unread_;
  bool ended_ = false;
};

}  // namespace verbatim::net::testing
