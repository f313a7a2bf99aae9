#include "protocol/messages_reader.h"

#include <array>
#include <utility>

#include "json/writer.h"
#include "message/fold.h"
#include "protocol/server_fields.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;
using message::Events;
using message::FinishReason;

constexpr std::array<FinishWord, 4> kWords{{{"end_turn", FinishReason::kStop},
                                            {"stop_sequence", FinishReason::kStop},
                                            {"tool_use", FinishReason::kStop},
                                            {"max_tokens", FinishReason::kLength}}};

// A tool_use begins with {} and gets its input by deltas. One that names it at once gets no more.
bool is_empty_object(const std::string& raw) {
  const auto parsed = json::Document::parse(raw);
  return parsed && parsed->root().is_object() && parsed->root().empty();
}

}  // namespace

Status MessagesReader::feed(const Value& object, Events& out) {
  if (!object.is_object()) return theirs(mismatch("", "an object", object));
  std::string type;
  if (auto s = put(text_of(object, "type", ""), type); !s) return s;
  if (ended_) return not_believed("type", "something stands behind the end of the message");
  if (type == "message") return read_message(object, out);
  return read_event(object, type, out);
}

Status MessagesReader::read_event(const Value& event, const std::string& type, Events& out) {
  if (type == "ping") return {};
  if (type == "message_start") {
    const auto message = object_of(event, "message", "");
    if (!message) return message.error();
    started_ = true;
    return read_usage(*message);
  }
  if (!started_) return not_believed("type", "expected message_start first");
  if (type == "content_block_start") return start_block(event, out);
  if (type == "content_block_delta") return add_delta(event, out);
  if (type == "content_block_stop") return stop_block(event, out);
  if (type == "message_delta") {
    const auto delta = object_of(event, "delta", "");
    return delta ? read_end(event, *delta) : Status(delta.error());
  }
  if (type != "message_stop") return {};
  for (const auto& block : blocks_) {
    if (block.open) return not_believed("index", "a block has no end");
  }
  ended_ = true;
  return {};
}

Status MessagesReader::start_block(const Value& event, Events& out) {
  const auto index = count_of(event, "index", "");
  if (!index) return index.error();
  if (*index != blocks_.size())
    return not_believed("index", "expected the number of the next block");
  const auto value = object_of(event, "content_block", "");
  if (!value) return value.error();
  const auto block = read_block(*value, "content_block");
  if (!block) return block.error();
  Streamed streamed;
  streamed.kind = block->kind;
  streamed.start = value->raw();
  streamed.text = block->text;
  if (block->kind == BlockKind::kText) message::append_text(out, block->text);
  if (block->kind == BlockKind::kThinking) message::append_reasoning(out, block->text);
  if (block->kind == BlockKind::kToolUse) {
    streamed.call = calls_++;
    out.emplace_back(message::ToolCallStart{streamed.call, block->id, block->name});
    if (!is_empty_object(block->input)) streamed.text = block->input;
    message::append_arguments(out, streamed.call, streamed.text);
  }
  blocks_.push_back(std::move(streamed));
  return {};
}

Result<MessagesReader::Streamed*> MessagesReader::open_block(const Value& event) {
  const auto index = count_of(event, "index", "");
  if (!index) return index.error();
  if (*index >= blocks_.size() || !blocks_[*index].open)
    return not_believed("index", "expected the number of a block that is open");
  return &blocks_[*index];
}

Status MessagesReader::add_delta(const Value& event, Events& out) {
  const auto block = open_block(event);
  if (!block) return block.error();
  const auto delta = object_of(event, "delta", "");
  return delta ? add_piece(**block, *delta, out) : Status(delta.error());
}

Status MessagesReader::add_piece(Streamed& block, const Value& delta, Events& out) {
  struct Piece {
    std::string_view type;
    std::string_view name;
    BlockKind kind;
  };
  static constexpr Piece kPieces[] = {{"text_delta", "text", BlockKind::kText},
                                      {"thinking_delta", "thinking", BlockKind::kThinking},
                                      {"input_json_delta", "partial_json", BlockKind::kToolUse}};
  std::string type;
  if (auto s = put(text_of(delta, "type", "delta."), type); !s) return s;
  if (type == "signature_delta") {
    std::string more;
    if (auto s = put(text_of(delta, "signature", "delta."), more); !s) return s;
    block.signature += more;
    return {};
  }
  for (const auto& piece : kPieces) {
    if (piece.type != type) continue;
    if (piece.kind != block.kind) return not_believed("delta.type", "a delta of another block");
    std::string text;
    if (auto s = put(text_of(delta, piece.name, "delta."), text); !s) return s;
    block.text += text;
    if (block.kind == BlockKind::kText) message::append_text(out, text);
    if (block.kind == BlockKind::kThinking) message::append_reasoning(out, text);
    if (block.kind == BlockKind::kToolUse) message::append_arguments(out, block.call, text);
  }
  return {};
}

Status MessagesReader::stop_block(const Value& event, Events& out) {
  const auto block = open_block(event);
  if (!block) return block.error();
  (*block)->open = false;
  if ((*block)->kind != BlockKind::kToolUse) return {};
  if ((*block)->text.empty()) {
    (*block)->text = "{}";
    message::append_arguments(out, (*block)->call, "{}");
  }
  if (is_whole((*block)->text)) out.emplace_back(message::ToolCallEnd{(*block)->call});
  return {};
}

Status MessagesReader::read_message(const Value& message, Events& out) {
  const auto content = message.get("content");
  if (!content || !content->is_array())
    return not_believed("content", "missing; expected an array of blocks");
  std::uint32_t calls = 0;
  for (const auto& each : *content) {
    const auto block = read_block(each.value, at("content", raw_blocks_.size()));
    if (!block) return block.error();
    raw_blocks_.emplace_back(each.value.raw());
    if (block->kind == BlockKind::kText) message::append_text(out, block->text);
    if (block->kind == BlockKind::kThinking) message::append_reasoning(out, block->text);
    if (block->kind != BlockKind::kToolUse) continue;
    out.emplace_back(message::ToolCallStart{calls, block->id, block->name});
    message::append_arguments(out, calls, block->input);
    out.emplace_back(message::ToolCallEnd{calls++});
  }
  if (auto s = read_end(message, message); !s) return s;
  ended_ = true;
  return {};
}

Status MessagesReader::read_end(const Value& object, const Value& said) {
  std::string word;
  if (auto s = put(text_of(said, "stop_reason", ""), word); !s) return s;
  if (!word.empty()) word_ = std::move(word);
  return read_usage(object);
}

// What was read from a cache, or written to one, is counted apart.
Status MessagesReader::read_usage(const Value& object) {
  const auto usage = object.get("usage");
  if (!usage) return {};
  if (!usage->is_object()) return theirs(mismatch("usage", "an object", *usage));
  std::array<std::uint64_t, 4> counts{};
  constexpr std::array<std::string_view, 4> kNames = {
      "input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = count_of(*usage, kNames[i], "usage.");
    if (!count) return count.error();
    counts[i] = *count;
  }
  const bool input = usage->get("input_tokens").has_value();
  if (!usage_) usage_.emplace();
  if (input) usage_->prompt_tokens = counts[0] + counts[2] + counts[3];
  if (usage->get("output_tokens")) usage_->completion_tokens = counts[1];
  if (usage->get("cache_read_input_tokens")) usage_->cached_tokens = counts[2];
  return {};
}

std::string MessagesReader::raw_of(const Streamed& block) {
  const auto start = json::Document::parse(block.start);
  const char* text = block.kind == BlockKind::kText       ? "text"
                     : block.kind == BlockKind::kThinking ? "thinking"
                                                          : "input";
  if (!start || block.kind == BlockKind::kOther) return block.start;
  json::Writer w;
  w.begin_object();
  for (const auto member : start->root()) {
    const std::string name = member.name();
    const bool replaced = name == text || (name == "signature" && !block.signature.empty());
    if (!replaced) w.key(name).raw(member.value.raw());
  }
  w.key(text);
  block.kind == BlockKind::kToolUse ? w.raw(block.text) : w.string(block.text);
  if (!block.signature.empty()) w.field("signature", block.signature);
  w.end_object();
  return w.take();
}

Result<AnswerEnd> MessagesReader::finish() {
  if (!ended_) return not_believed("", "the stream has no message_stop");
  const auto finish = finish_of(kWords, word_, "stop_reason");
  if (!finish) return finish.error();
  AnswerEnd end;
  end.finish = *finish;
  end.word = word_;
  end.usage = usage_;
  bool sound = true;
  for (const auto& block : blocks_) {
    // A call that was cut has no input that could be sent again.
    sound = sound && (block.kind != BlockKind::kToolUse || is_whole(block.text));
    if (sound) raw_blocks_.push_back(raw_of(block));
  }
  std::string raw;
  for (const auto& block : raw_blocks_) raw.append(raw.empty() ? "[" : ",").append(block);
  if (sound && !raw.empty()) end.unknown.emplace_back(kContentBlocks, raw + "]");
  return end;
}

}  // namespace verbatim::protocol
