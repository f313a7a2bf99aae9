#include "base/sim/sim_pipe.h"

#include <algorithm>
#include <utility>

namespace verbatim::base::sim {
namespace {

Error cancelled() {
  return error(ErrorKind::kCancelled, "the connection was closed");
}
Error reset_by_peer() {
  return error(ErrorKind::kUnavailable, "Connection reset by peer");
}

}  // namespace

SimPipe::SimPipe(SimNetwork& network) : network_(network) {
  SeededRandom& random = network_.random_;
  const SimNetworkOptions& options = network_.options_;
  if (random.chance(options.cut)) cut_ = {random.below(options.fault_window), random.chance(500)};
  if (random.chance(options.stall)) stall_at_ = random.below(options.fault_window);
}

void SimPipe::link(const std::shared_ptr<SimPipe>& a, const std::shared_ptr<SimPipe>& b) {
  a->reverse_ = b;
  b->reverse_ = a;
}

// An operation's end is posted, never delivered from inside the call that caused it.
void SimPipe::finish_read(Result<std::size_t> result) {
  IoCompletion* done = std::exchange(reader_, nullptr);
  network_.executor_.post([self = shared_from_this(), done, result = std::move(result)] {
    self->read_pending_ = false;
    done->complete(result);
  });
}

void SimPipe::finish_write(Result<std::size_t> result) {
  IoCompletion* done = std::exchange(writer_, nullptr);
  network_.executor_.post([self = shared_from_this(), done, result = std::move(result)] {
    self->write_pending_ = false;
    done->complete(result);
  });
}

void SimPipe::start_write(std::span<const std::string_view> pieces, IoCompletion& done) {
  writer_ = &done;
  write_pending_ = true;
  pieces_ = pieces;
  piece_at_ = accepted_ = 0;
  if (writer_closed_) return finish_write(cancelled());
  if (broken_ || end_sent_) return finish_write(error(ErrorKind::kUnavailable, "Broken pipe"));
  if (reader_closed_) {
    // The kernel takes the bytes; the peer answers them with a reset.
    std::size_t size = 0;
    for (const std::string_view piece : pieces) size += piece.size();
    finish_write(size);
    broken_ = true;
    if (const auto reverse = reverse_.lock()) reverse->enqueue(Kind::kReset, {});
    return;
  }
  accept_bytes();
}

std::string SimPipe::take_pieces(std::size_t limit) {
  std::string bytes;
  while (!pieces_.empty() && bytes.size() < limit) {
    const std::string_view part = pieces_.front().substr(piece_at_, limit - bytes.size());
    bytes += part;
    piece_at_ += part.size();
    if (piece_at_ < pieces_.front().size()) break;
    pieces_ = pieces_.subspan(1);
    piece_at_ = 0;
  }
  return bytes;
}

void SimPipe::accept_bytes() {
  while (writer_ != nullptr) {
    while (!pieces_.empty() && piece_at_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      piece_at_ = 0;
    }
    if (pieces_.empty()) return finish_write(accepted_);
    const std::size_t buffer = network_.options_.buffer;
    if (used_ >= buffer) return;  // until the reader takes some
    std::size_t room = buffer - used_;
    const bool reaches_cut = cut_.at - sent_ <= room;
    if (reaches_cut) room = static_cast<std::size_t>(cut_.at - sent_);
    std::string bytes = take_pieces(room);
    accepted_ += bytes.size();
    if (reaches_cut && sent_ + bytes.size() < cut_.at) {
      send(std::move(bytes));
      continue;
    }
    send(std::move(bytes));
    if (!reaches_cut) continue;
    // Of a write that is taken whole, a cut behind it tells nothing.
    if (pieces_.empty()) finish_write(accepted_);
    return cut_off();
  }
}

void SimPipe::send(std::string bytes) {
  used_ += bytes.size();
  sent_ += bytes.size();
  network_.executor_.mix_trace(bytes.size());
  if (sent_ > stall_at_ && !stalled_) {
    stalled_ = true;
    ++network_.faults_.stalled;
    bytes.resize(bytes.size() - static_cast<std::size_t>(sent_ - stall_at_));
    if (!bytes.empty()) on_way_.push_back({last_at_, Kind::kBytes, std::move(bytes)});
    return schedule();
  }
  while (bytes.size() > 1 && network_.random_.chance(network_.options_.fragment)) {
    ++network_.faults_.fragments;
    const auto n = static_cast<std::size_t>(1 + network_.random_.below(bytes.size() - 1));
    enqueue(Kind::kBytes, bytes.substr(0, n));
    bytes.erase(0, n);
  }
  if (!bytes.empty()) enqueue(Kind::kBytes, std::move(bytes));
}

void SimPipe::enqueue(Kind kind, std::string bytes) {
  if (stalled_) return;
  last_at_ = std::max(last_at_, network_.executor_.clock().now() + network_.draw_latency());
  on_way_.push_back({last_at_, kind, std::move(bytes)});
  schedule();
}

void SimPipe::schedule() {
  if (scheduled_ || on_way_.empty()) return;
  scheduled_ = true;
  const MonoTime at = on_way_.front().at;
  if (at <= network_.executor_.clock().now()) {
    network_.executor_.post([self = shared_from_this()] { self->deliver(); });
  } else {
    // Weak: the timer is part of what it would keep alive.
    timer_.arm(network_.executor_.timers(), at, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->deliver();
    });
  }
}

void SimPipe::deliver() {
  scheduled_ = false;
  if (on_way_.empty()) return;  // dropped by a reset meanwhile
  Packet packet = std::move(on_way_.front());
  on_way_.pop_front();
  switch (packet.kind) {
    case Kind::kBytes:
      if (reader_closed_) {
        // Bytes for a closed socket are answered with a reset.
        if (const auto reverse = reverse_.lock()) reverse->enqueue(Kind::kReset, {});
      } else {
        ready_ += packet.bytes;
      }
      break;
    case Kind::kEnd:
      ended_ = true;
      break;
    case Kind::kReset:
      reset_ = true;
      if (const auto reverse = reverse_.lock()) reverse->break_writer();
      break;
  }
  schedule();
  try_read();
}

void SimPipe::start_read(std::span<char> into, IoCompletion& done) {
  reader_ = &done;
  read_pending_ = true;
  into_ = into;
  if (reader_closed_) return finish_read(cancelled());
  try_read();
}

void SimPipe::try_read() {
  if (reader_ == nullptr) return;
  if (!ready_.empty()) {
    std::size_t n = std::min(ready_.size(), into_.size());
    if (n > 1 && network_.random_.chance(network_.options_.fragment)) {
      ++network_.faults_.fragments;
      n = static_cast<std::size_t>(1 + network_.random_.below(n));
    }
    std::copy_n(ready_.begin(), n, into_.begin());
    ready_.erase(0, n);
    used_ -= n;
    finish_read(n);
    accept_bytes();
  } else if (reset_) {
    finish_read(reset_by_peer());
  } else if (ended_) {
    finish_read(std::size_t{0});
  }
}

void SimPipe::send_end() {
  if (std::exchange(end_sent_, true) || broken_) return;
  enqueue(Kind::kEnd, {});
}

void SimPipe::close_writer(Leave how) {
  if (std::exchange(writer_closed_, true)) return;
  if (writer_ != nullptr) finish_write(cancelled());
  if (how == Leave::kReset) {
    on_way_.clear();
    enqueue(Kind::kReset, {});
  } else {
    send_end();
  }
}

SimPipe::Leave SimPipe::close_reader() {
  if (std::exchange(reader_closed_, true)) return Leave::kEnd;
  if (reader_ != nullptr) finish_read(cancelled());
  const bool unread = !ready_.empty();
  ready_.clear();
  return unread ? Leave::kReset : Leave::kEnd;
}

void SimPipe::break_writer() {
  broken_ = true;
  if (writer_ != nullptr) finish_write(reset_by_peer());
}

void SimPipe::cut_off() {
  ++(cut_.orderly ? network_.faults_.cut_by_end : network_.faults_.cut_by_reset);
  enqueue(cut_.orderly ? Kind::kEnd : Kind::kReset, {});
  end_sent_ = true;
  break_writer();
  if (const auto reverse = reverse_.lock()) {
    reverse->enqueue(Kind::kReset, {});
    reverse->broken_ = true;
    if (reverse->writer_ != nullptr) reverse->finish_write(reset_by_peer());
  }
}

}  // namespace verbatim::base::sim
