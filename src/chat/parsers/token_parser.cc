#include "chat/parsers/token_parser.h"

#include <algorithm>
#include <array>

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

bool TokenMarkers::holds_marker(std::string_view text) const {
  return std::any_of(by_id_.begin(), by_id_.end(), [&](const auto& entry) {
    // One that ends the turn ends it by itself.
    if (entry.second.role == Role::kTurnEnd) return false;
    const std::string tag = tokenizer_.decode(std::array{entry.first});
    return text.find(tag) != std::string_view::npos;
  });
}

bool TokenMarkers::reasoning_open_after(bool open_before,
                                        std::span<const base::TokenId> completion) const {
  const auto* open = tokenizer_.added(grammar_.reasoning_open);
  const auto* close = tokenizer_.added(grammar_.reasoning_close);
  if (open == nullptr || close == nullptr) {
    const std::string text = tokenizer_.decode(completion);
    if (text.find(grammar_.reasoning_close) != std::string::npos) return false;
    const auto first = text.find_first_not_of(" \t\r\n");
    return open_before ||
           (first != std::string::npos &&
            text.compare(first, grammar_.reasoning_open.size(), grammar_.reasoning_open) == 0);
  }
  bool is_open = open_before;
  bool in_front = true;
  for (const auto id : completion) {
    if (id == close->id) return false;
    if (in_front && id == open->id) is_open = true;
    // Blank tokens may stand in front of the open tag.
    if (tokenizer_.bytes(id).find_first_not_of(" \t\r\n") != std::string_view::npos)
      in_front = false;
  }
  return is_open;
}

std::size_t TokenMarkers::reasoning_ids(bool open_before,
                                        std::span<const base::TokenId> completion) const {
  if (grammar_.reasoning_close.empty()) return 0;
  const auto* open = tokenizer_.added(grammar_.reasoning_open);
  const auto* close = tokenizer_.added(grammar_.reasoning_close);
  const bool tokens = open != nullptr && close != nullptr;
  // Ids up to and with the one that closes it; all of them where none does.
  std::size_t count = 0;
  bool closed = false;
  std::string text;
  for (auto id = completion.begin(); id != completion.end() && !closed; ++id) {
    ++count;
    closed = tokens && *id == close->id;
    if (tokens) continue;
    const auto bytes = tokenizer_.bytes(*id);
    text += bytes;
    const auto tail = grammar_.reasoning_close.size() + bytes.size();
    const auto from = text.size() > tail ? text.size() - tail : 0;
    closed = text.find(grammar_.reasoning_close, from) != std::string::npos;
  }
  const auto inside = completion.first(closed ? count - 1 : count);
  return reasoning_open_after(open_before, inside) ? count : 0;
}

TokenParser::TokenParser(const TokenMarkers& markers, const TurnStart& start,
                         std::vector<std::string> stop_strings)
    : markers_(markers),
      parser_(markers.grammar().make(start)),
      stop_(std::move(stop_strings)),
      splitter_(markers.in_text_),
      decoder_(markers.tokenizer()) {}

void TokenParser::pass_text(message::Events& out) {
  if (text_.empty()) return;
  std::string passed;
  if (stop_.feed(text_, passed)) ended_ = true;
  if (!passed.empty()) splitter_.feed(passed, *parser_, out);
  text_.clear();
}

void TokenParser::flush_text(message::Events& out) {
  decoder_.finish(text_);
  pass_text(out);
  if (!ended_) {
    std::string rest;
    stop_.flush(rest);
    if (!rest.empty()) splitter_.feed(rest, *parser_, out);
  }
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
    if (ended_) return;
    if (entry->role == TokenMarkers::Role::kTurnEnd) {
      ended_ = true;
      return;
    }
    parser_->marker(entry->marker, out);
  }
  pass_text(out);
}

message::FinishReason TokenParser::finish(message::FinishReason engine, message::Events& out) {
  flush_text(out);
  if (engine == message::FinishReason::kLength && !stop_.found()) {
    return parser_->finish(Ending::kLength, out);
  }
  return parser_->finish(stop_.found() ? Ending::kStopString : Ending::kByItself, out);
}

}  // namespace verbatim::chat::parsers
