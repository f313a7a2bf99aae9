#include "trajectory/turn.h"

#include <algorithm>

#include "trajectory/letters.h"

namespace verbatim::trajectory {

Turn::~Turn() {
  TurnPtr above = std::move(parent);
  // Whoever holds the last reference to a turn is alone with it, so taking its parent away is safe.
  while (above && above.use_count() == 1) above = std::move(const_cast<Turn&>(*above).parent);
}

namespace {
std::size_t footprint(const message::Message& message) {
  // Texts count twice: in the message, and as letters of the path.
  std::size_t texts = message.text.size() + message.name.size();
  texts += message.reasoning ? message.reasoning->size() : 0;
  std::size_t size = sizeof message;
  for (const auto& call : message.tool_calls) {
    size += sizeof call + call.id.size() + call.native_id.size();
    texts += call.name.size() + call.arguments.size();
  }
  texts += message::parts_of(message).size();
  for (const auto& [name, raw] : message.unknown) size += 64 + name.size() + raw.size();
  return size + 2 * texts;
}
}  // namespace

std::size_t footprint(const Turn& turn) {
  std::size_t size = sizeof turn + footprint(turn.answer);
  for (const auto& message : turn.messages) size += footprint(message);
  // Twice: alone and as part of the path.
  size += 2 * (turn.prompt.size() + turn.completion.size()) * sizeof(TokenId);
  size += turn.discarded.size() * sizeof(TokenId);
  size += (turn.logprobs.size() + turn.discarded_logprobs.size()) * sizeof(double);
  return size + turn.spans.size() * sizeof(TokenSpan) + turn.template_kwargs.size() +
         turn.request_id.size();
}

std::size_t footprint(const RootInfo& root) {
  std::size_t size = sizeof root + root.model.size() + root.tokenizer.size() +
                     root.chat_template.size() + root.encoding_policy.size() + root.family.size();
  for (const auto& tool : root.tools) size += sizeof tool + tool.name.size() + tool.raw.size();
  return size;
}

std::size_t own_root_footprint(const Turn& turn) {
  if (!turn.root || (turn.parent && turn.parent->root == turn.root)) return 0;
  return footprint(*turn.root);
}

namespace {
// By messages, as the engine counted it.
std::uint64_t counted_row(const Turn& turn) {
  return turn.usage ? turn.usage->prompt_tokens + turn.usage->completion_tokens : 0;
}
}  // namespace

std::uint64_t added_tokens(const Turn& turn) {
  if (turn.token_exact) return turn.prompt.size() + turn.completion.size();
  const std::uint64_t before = turn.parent ? counted_row(*turn.parent) : 0;
  return std::max(counted_row(turn), before) - before;
}

std::vector<TurnPtr> path_to(const TurnPtr& leaf) {
  std::vector<TurnPtr> path;
  for (TurnPtr turn = leaf; turn; turn = turn->parent) path.push_back(turn);
  std::reverse(path.begin(), path.end());
  return path;
}

void join_path(Turn& turn) {
  std::string letters;
  for (const auto& message : turn.messages) append_letters(letters, message);
  append_letters(letters, turn.answer);
  if (!turn.parent) {
    turn.path_prompt = turn.path_prompt.extended({turn.prompt});
    turn.path_letters = turn.path_letters.extended({letters});
    return;
  }
  const Turn& parent = *turn.parent;
  const auto kept = std::span(parent.completion).first(parent.completion.size() - turn.parent_trim);
  turn.path_prompt = parent.path_prompt.extended({kept, turn.prompt});
  turn.path_letters = parent.path_letters.extended({letters});
}

TokenIds prompt_of(const TurnPtr& leaf) {
  TokenIds ids;
  ids.reserve(leaf->path_prompt.size() + leaf->completion.size());
  for (const auto& piece : leaf->path_prompt.pieces())
    ids.insert(ids.end(), piece.begin(), piece.end());
  return ids;
}

TokenIds row_of(const TurnPtr& leaf) {
  TokenIds row = prompt_of(leaf);
  row.insert(row.end(), leaf->completion.begin(), leaf->completion.end());
  return row;
}

std::vector<message::Message> messages_of(const TurnPtr& leaf) {
  std::vector<message::Message> messages;
  messages.reserve(leaf->message_count);
  for (const auto& turn : path_to(leaf)) {
    messages.insert(messages.end(), turn->messages.begin(), turn->messages.end());
    messages.push_back(turn->answer);
  }
  return messages;
}

}  // namespace verbatim::trajectory
