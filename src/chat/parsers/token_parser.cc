#include "chat/parsers/token_parser.h"

#include <algorithm>

namespace verbatim::chat::parsers {
namespace {

// How far back a prompt whose tags are ordinary text is read: an opener and a prefilled block.
constexpr std::size_t kTailTokens = 256;

}  // namespace

TokenMarkers::TokenMarkers(const tokenizer::Tokenizer& tokenizer, const Grammar& grammar,
                           std::span<const base::TokenId> end_ids)
    : tokenizer_(tokenizer), grammar_(grammar) {
  for (MarkerIndex i = 0; i < grammar.markers.size(); ++i) {
    const auto* token = tokenizer.added(grammar.markers[i]);
    if (token != nullptr) {
      by_id_[token->id] = {Role::kMarker, i};
    } else {
      in_text_.push_back({i, grammar.markers[i]});
    }
  }
  if (const auto* end = tokenizer.added(grammar.turn_end)) by_id_[end->id] = {Role::kTurnEnd, 0};
  for (const auto id : end_ids) by_id_[id] = {Role::kTurnEnd, 0};
}

bool TokenMarkers::reasoning_open(std::span<const base::TokenId> prompt) const {
  const auto* open = tokenizer_.added(grammar_.reasoning_open);
  const auto* close = tokenizer_.added(grammar_.reasoning_close);
  const auto* turn = tokenizer_.added(grammar_.turn_open);
  if (open == nullptr || close == nullptr || turn == nullptr) {
    const auto tail = prompt.last(std::min(prompt.size(), kTailTokens));
    return parsers::reasoning_open(grammar_, tokenizer_.decode(tail));
  }
  for (auto it = prompt.rbegin(); it != prompt.rend(); ++it) {
    if (*it == open->id) return true;
    if (*it == close->id || *it == turn->id) return false;
  }
  return false;
}

TokenParser::TokenParser(const TokenMarkers& markers, const TurnStart& start)
    : markers_(markers),
      parser_(markers.grammar().make(start)),
      splitter_(markers.in_text_),
      decoder_(markers.tokenizer()) {}

void TokenParser::flush_text(message::Events& out) {
  decoder_.finish(text_);
  if (!text_.empty()) splitter_.feed(text_, *parser_, out);
  text_.clear();
  splitter_.flush(*parser_, out);
}

void TokenParser::feed(std::span<const base::TokenId> ids, message::Events& out) {
  for (const auto id : ids) {
    if (ended_) return;
    const auto* entry = markers_.find(id);
    if (entry == nullptr) {
      decoder_.feed(id, text_);
      continue;
    }
    flush_text(out);
    if (entry->role == TokenMarkers::Role::kTurnEnd) {
      ended_ = true;
      return;
    }
    parser_->marker(entry->marker, out);
  }
  if (!text_.empty()) splitter_.feed(text_, *parser_, out);
  text_.clear();
}

message::FinishReason TokenParser::finish(message::FinishReason engine, message::Events& out) {
  flush_text(out);
  return parser_->finish(engine, out);
}

}  // namespace verbatim::chat::parsers
