#include "engine/sglang/chat_reader.h"

#include <string>
#include <utility>

#include "engine/fields.h"
#include "engine/parsed_message.h"
#include "engine/upstream.h"
#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

using base::Result;
using json::Value;

constexpr const char* kMessage = "choices[0].message";
constexpr const char* kPrompt = "choices[0].prompt_token_ids";
constexpr const char* kFinish = "choices[0].finish_reason";

// The choice in the shape of an answer of /generate. Where meta_info does not hold the finish
// reason, the choice does, in the words of chat.
Result<std::string> as_generate(const Value& choice, const Value& meta, const Value& prompt) {
  json::Writer w;
  w.begin_object().key("prompt_token_ids").raw(prompt.raw()).key("meta_info");
  if (member_in(meta, "finish_reason")) {
    w.raw(meta.raw()).end_object();
    return w.take();
  }
  const auto reason = member_in(choice, "finish_reason");
  if (!reason || !reason->is_string())
    return malformed(kFinish, found(reason), "stop, length or tool_calls");
  w.begin_object();
  for (const auto& member : meta) {
    if (member.name() != "finish_reason") w.key(member.name()).raw(member.value.raw());
  }
  const std::string said = reason->string();
  w.key("finish_reason").begin_object().field("type", said == "tool_calls" ? "stop" : said);
  if (const auto matched = member_in(choice, "matched_stop")) w.key("matched").raw(matched->raw());
  w.end_object().end_object().end_object();
  return w.take();
}

}  // namespace

Result<TokenChunk> ChatReader::feed(std::string_view data) {
  const auto document = parse_answer(std::string(data), "");
  if (!document.ok()) return document.error();
  const Value root = document->root();
  if (is_error_body(root)) {
    reported_ = true;
    return reported_error(root);
  }
  const auto choices = member_in(root, "choices");
  if (!choices || !choices->is_array() || choices->size() != 1)
    return malformed("choices", found(choices), "an array of one choice");
  const Value choice = (*choices->begin()).value;
  const auto index = member_in(choice, "index");
  if (!index || !is_id(*index, 0)) return malformed("choices[0].index", found(index), "0");
  const auto prompt = member_in(choice, "prompt_token_ids");
  if (!prompt) {
    return malformed(kPrompt, "nothing",
                     "the ids sent: a server that does not say them again may have rendered the "
                     "messages instead");
  }
  const auto meta = member_in(choice, "meta_info");
  if (!meta || !meta->is_object())
    return malformed("choices[0].meta_info", found(meta), "an object");
  const auto said = member_in(choice, "message");
  if (!said || !said->is_object()) return malformed(kMessage, found(said), "an object");
  const auto event = as_generate(choice, *meta, *prompt);
  if (!event.ok()) return event.error();
  auto chunk = tokens_.feed(*event);
  if (!chunk.ok()) return std::move(chunk).error();
  auto message = read_parsed_message(*said, kMessage);
  if (!message.ok()) return std::move(message).error();
  chunk->parsed = std::move(*message);
  return std::move(*chunk);
}

}  // namespace verbatim::engine::sglang
