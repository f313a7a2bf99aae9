#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "message/event.h"
#include "message/usage.h"
#include "protocol/messages_blocks.h"
#include "protocol/named_event.h"
#include "protocol/text_ends.h"

namespace verbatim::protocol {

// Writes the events of one turn as a message of the Messages protocol: the object, or the events of
// a stream: message_start, for each block start, deltas, stop, then message_delta and message_stop.
// Life: one per turn; after finish() or fail() it is spent. Not thread-safe.
// Format: Anthropic API reference, "Streaming messages".
class MessagesEmitter {
 public:
  struct Head {
    std::string id;  // "msg_..."
    std::string model;
    std::uint64_t prompt_tokens = 0;
    std::string signature;  // of thinking blocks
  };
  explicit MessagesEmitter(Head head, TextEnds text_ends = TextEnds::kBeforeCalls)
      : head_(std::move(head)), text_ends_(text_ends) {}

  void open(NamedEvents& out);
  // ToolCallStart::native_id must be the id that the client is to see.
  void events(std::span<const message::Event> events, NamedEvents& out);
  // The stop_reason and the usage; close() sends what is behind them.
  void finish(std::string_view stop_reason, const message::Usage& usage, NamedEvents& out);
  static void close(NamedEvents& out);
  static void fail(std::string_view type, std::string_view message, NamedEvents& out);
  // The object, of all that was said.
  [[nodiscard]] std::string whole(std::string_view stop_reason, const message::Usage& usage) const;

 private:
  struct Adder;

  Block& at_block(BlockKind kind, NamedEvents& out);
  Block& add(Block block, NamedEvents& out);
  void close_last(NamedEvents& out);
  void delta(const char* type, const char* member, std::string_view text, NamedEvents& out);
  void write_block(json::Writer& w, const Block& block) const;
  static void write_usage(json::Writer& w, const message::Usage& usage);

  Head head_;
  TextEnds text_ends_;
  std::vector<Block> blocks_;
  bool opened_ = false;
  bool block_open_ = false;
};

}  // namespace verbatim::protocol
