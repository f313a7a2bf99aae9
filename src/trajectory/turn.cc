#include "trajectory/turn.h"

#include <algorithm>

namespace verbatim::trajectory {

Turn::~Turn() {
  TurnPtr above = std::move(parent);
  // Whoever holds the last reference to a turn is alone with it, so taking its parent away is safe.
  while (above && above.use_count() == 1) above = std::move(const_cast<Turn&>(*above).parent);
}

namespace {
std::size_t footprint(const message::Message& message) {
  std::size_t size = sizeof message + message.text.size() +
                     (message.reasoning ? message.reasoning->size() : 0) + message.name.size();
  for (const auto& call : message.tool_calls)
    size += sizeof call + call.id.size() + call.name.size() + call.arguments.size();
  for (const auto& [name, raw] : message.unknown) size += 64 + name.size() + raw.size();
  return size;
}
}  // namespace

std::size_t footprint(const Turn& turn) {
  std::size_t size = sizeof turn + footprint(turn.answer);
  for (const auto& message : turn.messages) size += footprint(message);
  size += (turn.prompt.size() + turn.completion.size() + turn.discarded.size()) * sizeof(TokenId);
  size += (turn.logprobs.size() + turn.discarded_logprobs.size()) * sizeof(double);
  return size + turn.spans.size() * sizeof(TokenSpan) + turn.template_kwargs.size() +
         turn.request_id.size();
}

std::vector<TurnPtr> path_to(const TurnPtr& leaf) {
  std::vector<TurnPtr> path;
  for (TurnPtr turn = leaf; turn; turn = turn->parent) path.push_back(turn);
  std::reverse(path.begin(), path.end());
  return path;
}

namespace {
void append_prompt(TokenIds& row, const Turn& turn) {
  row.resize(row.size() - turn.parent_trim);
  row.insert(row.end(), turn.prompt.begin(), turn.prompt.end());
}
}  // namespace

TokenIds prompt_of(const TurnPtr& leaf) {
  TokenIds row = leaf->parent ? row_of(leaf->parent) : TokenIds{};
  append_prompt(row, *leaf);
  return row;
}

TokenIds row_of(const TurnPtr& leaf) {
  TokenIds row;
  row.reserve(leaf->row_size + 1);
  for (const auto& turn : path_to(leaf)) {
    append_prompt(row, *turn);
    row.insert(row.end(), turn->completion.begin(), turn->completion.end());
  }
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
