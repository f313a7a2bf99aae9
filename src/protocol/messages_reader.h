#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/answer_reader.h"
#include "protocol/messages_blocks.h"

namespace verbatim::protocol {

// Answers to POST /v1/messages: a message, or events that end with message_stop. Blocks are kept as
// they were said, signatures and all, and put together from their deltas where they are streamed.
class MessagesReader final : public AnswerReader {
 public:
  base::Status feed(const json::Value& object, message::Events& out) override;
  [[nodiscard]] bool finished() const override { return !word_.empty(); }
  [[nodiscard]] bool ended() const override { return ended_; }
  base::Result<AnswerEnd> finish() override;

 private:
  // A block of the stream.
  struct Streamed {
    BlockKind kind = BlockKind::kOther;
    std::uint32_t call = 0;  // its number among the calls
    std::string text;        // text, thinking, or the JSON of an input
    std::string signature;
    std::string start;  // the block as it began, raw
    bool open = true;
  };

  base::Status read_event(const json::Value& event, const std::string& type, message::Events& out);
  base::Status start_block(const json::Value& event, message::Events& out);
  base::Status add_delta(const json::Value& event, message::Events& out);
  base::Status add_piece(Streamed& block, const json::Value& delta, message::Events& out);
  base::Status stop_block(const json::Value& event, message::Events& out);
  base::Result<Streamed*> open_block(const json::Value& event);
  base::Status read_message(const json::Value& message, message::Events& out);
  base::Status read_end(const json::Value& object, const json::Value& said);
  base::Status read_usage(const json::Value& object);
  static std::string raw_of(const Streamed& block);

  std::vector<Streamed> blocks_;
  std::vector<std::string> raw_blocks_;  // of an answer that came whole
  std::uint32_t calls_ = 0;
  bool started_ = false;
  bool ended_ = false;
  std::string word_;
  std::optional<message::Usage> usage_;
};

}  // namespace verbatim::protocol
