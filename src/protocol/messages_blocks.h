#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/message.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// Content blocks of the Messages protocol and messages, both ways. Format: Anthropic API
// reference, "Messages". Pure.

// The blocks of an assistant's message: thinking, text, tool_use. Blocks that a server said
// (kContentBlocks) go as it said them.
void write_blocks(json::Writer& w, const message::Message& message);

// What a block of an answer is to a turn.
enum class BlockKind { kText, kThinking, kToolUse, kOther };
struct Block {
  BlockKind kind = BlockKind::kOther;
  std::string text;  // of text or thinking
  std::string name;  // of a tool_use
  std::string id;
  std::string input;  // raw JSON
};
// Errors (kEngine) begin with `field`.
base::Result<Block> read_block(const json::Value& block, const std::string& field);

// System messages stand at the front, arguments of calls are objects, no content part and no
// parameter asks for what the protocol has not.
base::Status check_messages(const Conversation& conversation);
// The body of POST /v1/messages. The protocol demands max_tokens: kDefaultMaxTokens where the
// client names none.
std::string write_messages_request(const Conversation& conversation);
inline constexpr std::uint64_t kDefaultMaxTokens = 4096;

}  // namespace verbatim::protocol
