#include "protocol/messages_emitter.h"

#include <algorithm>
#include <utility>

#include "protocol/server_fields.h"

namespace verbatim::protocol {

using json::Writer;

void MessagesEmitter::write_usage(Writer& w, const message::Usage& usage) {
  const std::uint64_t cached = usage.cached_tokens.value_or(0);
  w.key("usage").begin_object().field("input_tokens", usage.prompt_tokens - cached);
  w.field("output_tokens", usage.completion_tokens).field("cache_creation_input_tokens", 0);
  w.field("cache_read_input_tokens", cached);
  w.end_object();
}

void MessagesEmitter::write_block(Writer& w, const Block& block) const {
  w.begin_object();
  if (block.kind == BlockKind::kToolUse) {
    w.field("type", "tool_use").field("id", block.id).field("name", block.name);
    // A call that was cut has no input.
    w.key("input").raw(is_whole(block.input) ? block.input : "{}");
  } else if (block.kind == BlockKind::kThinking) {
    w.field("type", "thinking").field("thinking", block.text);
    w.field("signature", head_.signature);
  } else {
    w.field("type", "text").field("text", block.text);
  }
  w.end_object();
}

void MessagesEmitter::open(NamedEvents& out) {
  if (std::exchange(opened_, true)) return;
  Writer w;
  w.begin_object().field("type", "message_start").key("message").begin_object();
  w.field("id", head_.id).field("type", "message").field("role", "assistant");
  w.key("content").begin_array().end_array().field("model", head_.model);
  w.key("stop_reason").null().key("stop_sequence").null();
  write_usage(w, {head_.prompt_tokens, 0, {}});
  w.end_object().end_object();
  out.push_back({"message_start", w.take()});
}

Block& MessagesEmitter::add(Block block, NamedEvents& out) {
  close_last(out);
  blocks_.push_back(std::move(block));
  block_open_ = true;
  Writer w;
  w.begin_object().field("type", "content_block_start");
  w.field("index", std::uint64_t{blocks_.size() - 1}).key("content_block");
  const MessagesEmitter unsigned_yet({});
  unsigned_yet.write_block(w, blocks_.back());
  w.end_object();
  out.push_back({"content_block_start", w.take()});
  return blocks_.back();
}

Block& MessagesEmitter::at_block(BlockKind kind, NamedEvents& out) {
  if (block_open_ && blocks_.back().kind == kind) return blocks_.back();
  return add({kind, {}, {}, {}, {}}, out);
}

void MessagesEmitter::delta(const char* type, const char* member, std::string_view text,
                            NamedEvents& out) {
  Writer w;
  w.begin_object().field("type", "content_block_delta");
  w.field("index", std::uint64_t{blocks_.size() - 1}).key("delta").begin_object();
  w.field("type", type).field(member, text).end_object().end_object();
  out.push_back({"content_block_delta", w.take()});
}

void MessagesEmitter::close_last(NamedEvents& out) {
  if (!std::exchange(block_open_, false)) return;
  if (blocks_.back().kind == BlockKind::kThinking && !head_.signature.empty())
    delta("signature_delta", "signature", head_.signature, out);
  Writer w;
  w.begin_object().field("type", "content_block_stop");
  w.field("index", std::uint64_t{blocks_.size() - 1}).end_object();
  out.push_back({"content_block_stop", w.take()});
}

struct MessagesEmitter::Adder {
  MessagesEmitter& to;
  NamedEvents& out;

  void operator()(const message::ReasoningDelta& e) const {
    to.at_block(BlockKind::kThinking, out).text += e.text;
    to.delta("thinking_delta", "thinking", e.text, out);
  }
  void operator()(const message::TextDelta& e) const {
    to.at_block(BlockKind::kText, out).text += e.text;
    to.delta("text_delta", "text", e.text, out);
  }
  void operator()(const message::ToolCallStart& e) const {
    to.add({BlockKind::kToolUse, {}, e.name, e.native_id, {}}, out);
  }
  void operator()(const message::ToolCallArguments& e) const {
    to.blocks_.back().input += e.text;
    to.delta("input_json_delta", "partial_json", e.text, out);
  }
  void operator()(const message::ToolCallEnd&) const { to.close_last(out); }
  void operator()(const message::ItemStart&) const {}
};

void MessagesEmitter::events(std::span<const message::Event> events, NamedEvents& out) {
  open(out);
  for (const auto& event : events) std::visit(Adder{*this, out}, event);
}

void MessagesEmitter::finish(std::string_view stop_reason, const message::Usage& usage,
                             NamedEvents& out) {
  open(out);
  close_last(out);
  Writer w;
  w.begin_object().field("type", "message_delta").key("delta").begin_object().key("stop_reason");
  stop_reason.empty() ? w.null() : w.string(stop_reason);
  w.key("stop_sequence").null().end_object();
  write_usage(w, usage);
  w.end_object();
  out.push_back({"message_delta", w.take()});
}

void MessagesEmitter::close(NamedEvents& out) {
  out.push_back({"message_stop", R"({"type":"message_stop"})"});
}

void MessagesEmitter::fail(std::string_view type, std::string_view message, NamedEvents& out) {
  Writer w;
  w.begin_object().field("type", "error").key("error").begin_object().field("type", type);
  w.field("message", message).end_object().end_object();
  out.push_back({"error", w.take()});
}

std::string MessagesEmitter::whole(std::string_view stop_reason,
                                   const message::Usage& usage) const {
  Writer w;
  w.begin_object().field("id", head_.id).field("type", "message").field("role", "assistant");
  w.key("content").begin_array();
  auto blocks = blocks_;
  if (text_ends_ == TextEnds::kLast)
    std::stable_partition(blocks.begin(), blocks.end(),
                          [](const Block& block) { return block.kind != BlockKind::kText; });
  for (const auto& block : blocks) write_block(w, block);
  w.end_array().field("model", head_.model).key("stop_reason");
  stop_reason.empty() ? w.null() : w.string(stop_reason);
  w.key("stop_sequence").null();
  write_usage(w, usage);
  w.end_object();
  return w.take();
}

}  // namespace verbatim::protocol
