#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/sim/sim_network.h"

namespace verbatim::base::sim {

// One direction of a simulated connection, shared by its two ends. For sim_network.cc.
class SimPipe final : public std::enable_shared_from_this<SimPipe> {
 public:
  explicit SimPipe(SimNetwork& network);
  static void link(const std::shared_ptr<SimPipe>& a, const std::shared_ptr<SimPipe>& b);

  // The writer's end.
  void start_write(std::span<const std::string_view> pieces, IoCompletion& done);
  void send_end();
  // The writer goes away: an orderly end, or a reset that also drops what is still on the way.
  enum class Leave { kEnd, kReset };
  void close_writer(Leave how);
  [[nodiscard]] bool write_pending() const { return write_pending_; }

  // The reader's end.
  void start_read(std::span<char> into, IoCompletion& done);
  // Whether bytes are thrown away by it.
  Leave close_reader();
  [[nodiscard]] bool read_pending() const { return read_pending_; }
  // A read that has its bytes and was not told of them yet has taken nothing.
  [[nodiscard]] bool unread() const {
    const bool untold = read_pending_ && reader_ == nullptr;
    return !reader_closed_ && (!ready_.empty() || ended_ || reset_ || untold);
  }

 private:
  enum class Kind { kBytes, kEnd, kReset };
  struct Packet {
    MonoTime at;
    Kind kind;
    std::string bytes;
  };
  struct Fault {
    std::uint64_t at = UINT64_MAX;
    bool orderly = false;
  };

  void accept_bytes();
  std::string take_pieces(std::size_t limit);
  void send(std::string bytes);
  void enqueue(Kind kind, std::string bytes);
  void schedule();
  void deliver();
  void try_read();
  void cut_off();
  void break_writer();
  void finish_read(Result<std::size_t> result);
  void finish_write(Result<std::size_t> result);

  SimNetwork& network_;
  std::weak_ptr<SimPipe> reverse_;
  std::deque<Packet> on_way_;
  Timer timer_;
  MonoTime last_at_;
  std::string ready_;
  std::size_t used_ = 0;  // bytes on the way, unread or swallowed
  std::uint64_t sent_ = 0;
  Fault cut_;
  std::uint64_t stall_at_ = UINT64_MAX;

  IoCompletion* reader_ = nullptr;
  std::span<char> into_;
  IoCompletion* writer_ = nullptr;
  std::span<const std::string_view> pieces_;
  std::size_t piece_at_ = 0;  // in pieces_.front()
  std::size_t accepted_ = 0;

  bool read_pending_ = false;
  bool write_pending_ = false;
  bool scheduled_ = false;
  bool ended_ = false;  // the end has arrived
  bool reset_ = false;  // a reset has arrived
  bool end_sent_ = false;
  bool broken_ = false;  // the writer was told that the peer is gone
  bool reader_closed_ = false;
  bool writer_closed_ = false;
  bool stalled_ = false;
};

}  // namespace verbatim::base::sim
