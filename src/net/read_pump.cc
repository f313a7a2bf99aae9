#include "net/read_pump.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace verbatim::net {
namespace {
constexpr std::size_t kSmallestRead =
    4096;  // less room at the end of the buffer is not worth a system call
}

ReadPump::ReadPump(base::ByteStream& stream, Observer& observer, std::size_t capacity)
    : stream_(stream),
      observer_(observer),
      buffer_(std::make_unique_for_overwrite<char[]>(std::max(capacity, kSmallestRead))),
      capacity_(std::max(capacity, kSmallestRead)) {}

void ReadPump::start() {
  base::spawn(run());
}

bool ReadPump::has_room() const {
  return capacity_ - end_ >= kSmallestRead;
}

void ReadPump::make_room() {
  if (begin_ == 0) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

void ReadPump::consume(std::size_t n) {
  begin_ += n;
  pinned_ = false;
  if (!paused_) return;
  make_room();
  if (has_room()) std::exchange(paused_, {}).resume();
}

void ReadPump::close() {
  closing_ = true;
  stream_.close();
  if (paused_) std::exchange(paused_, {}).resume();
}

base::Task<void> ReadPump::run() {
  for (;;) {
    if (begin_ == end_) begin_ = end_ = 0;
    if (!has_room() && !pinned_) make_room();
    co_await Room{*this};
    // A read that was over before close() may have filled the buffer: room will not come.
    if (closing_) {
      error_ = base::error(base::ErrorKind::kCancelled, "the connection was closed");
      break;
    }
    auto got = co_await base::read_some(stream_, {buffer_.get() + end_, capacity_ - end_});
    if (!got.ok()) {
      error_ = std::move(got).error();
      break;
    }
    if (*got == 0) break;
    end_ += *got;
    if (consumer_) std::exchange(consumer_, {}).resume();
  }
  ended_ = true;
  observer_.on_stream_end();
  if (consumer_) std::exchange(consumer_, {}).resume();
  finished_ = true;
  // The closer may destroy this pump: nothing of it is touched behind this line.
  if (closer_) std::exchange(closer_, {}).resume();
}

}  // namespace verbatim::net
