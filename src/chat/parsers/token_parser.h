#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chat/parsers/marker_splitter.h"
#include "chat/parsers/parser.h"
#include "chat/parsers/stop_filter.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::chat::parsers {

// How one vocabulary spells the tags of one grammar. A tag that is an added token acts only as that
// token: the same characters in ordinary tokens are text. A tag that is none is found in the text.
// Immutable, thread-safe; one per model, made at start-up. Refers to the tokenizer and the grammar.
class TokenMarkers {
 public:
  // `end_ids`: ids that end a turn (close and stop ids of the family); they are in no field.
  TokenMarkers(const tokenizer::Tokenizer& tokenizer, const Grammar& grammar,
               std::span<const base::TokenId> end_ids);

  // Does this prompt end inside an open reasoning block? Where the tags and the turn opener are
  // tokens, only tokens count; else the text of the prompt's tail decides.
  [[nodiscard]] bool reasoning_open(std::span<const base::TokenId> prompt) const;

  // Does a turn that began with reasoning open or not, and sampled `completion`, end inside
  // reasoning? It ends at the first close tag; an open tag counts only in front of everything else.
  [[nodiscard]] bool reasoning_open_after(bool open_before,
                                          std::span<const base::TokenId> completion) const;

  // How many ids of the completion are reasoning, its close tag included.
  [[nodiscard]] std::size_t reasoning_ids(bool open_before,
                                          std::span<const base::TokenId> completion) const;

  // Whether `text` holds a tag that is a token of its own: such text is never seen as text.
  [[nodiscard]] bool holds_marker(std::string_view text) const;

  [[nodiscard]] const Grammar& grammar() const { return grammar_; }
  [[nodiscard]] const tokenizer::Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  friend class TokenParser;
  enum class Role : std::uint8_t { kMarker, kTurnEnd };
  struct Entry {
    Role role = Role::kMarker;
    MarkerIndex marker = 0;
  };
  [[nodiscard]] const Entry* find(base::TokenId id) const {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? nullptr : &it->second;
  }

  const tokenizer::Tokenizer& tokenizer_;
  const Grammar& grammar_;
  std::unordered_map<base::TokenId, Entry> by_id_;
  std::vector<MarkerSplitter::TextMarker> in_text_;
};

// Turns the sampled ids of one turn into events. The result does not depend on how the ids are cut.
// Life: one per turn, on the thread of its stream. `markers` must outlive it.
class TokenParser {
 public:
  // The text a client sees ends in front of the first of `stop_strings`.
  TokenParser(const TokenMarkers& markers, const TurnStart& start,
              std::vector<std::string> stop_strings = {});

  // Appends the events that are certain now. Ids behind one that ends the turn are ignored.
  void feed(std::span<const base::TokenId> ids, message::Events& out);
  // The engine is done (kStop or kLength). Returns what the client is told. Call once, last.
  message::FinishReason finish(message::FinishReason engine, message::Events& out);
  // An id or a string that ends the turn was seen.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  void pass_text(message::Events& out);
  void flush_text(message::Events& out);

  const TokenMarkers& markers_;
  std::unique_ptr<Parser> parser_;
  StopFilter stop_;
  MarkerSplitter splitter_;
  tokenizer::IncrementalDecoder decoder_;
  std::string text_;  // decoded, not yet handed on
  bool ended_ = false;
};

}  // namespace verbatim::chat::parsers
