#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chat/parsers/parser.h"

namespace verbatim::chat::parsers {

// Finds tags in the text of vocabularies that have no token for them. Keeps back the longest end
// of the text that may still become a tag.
// Life: one per turn, beside its parser. Not thread-safe.
class MarkerSplitter {
 public:
  struct TextMarker {
    MarkerIndex index = 0;
    std::string_view spelling;  // static data of the grammar, not empty
  };
  // Of tags that match at the same place the first listed wins.
  explicit MarkerSplitter(std::vector<TextMarker> markers) : markers_(std::move(markers)) {}

  void feed(std::string_view text, Parser& parser, message::Events& out);
  // No tag can span what comes now: a token that is a marker, or the end.
  void flush(Parser& parser, message::Events& out);

 private:
  // Offset of the first tag, or of the end of the text that may become one; `text.size()` if none.
  struct Hit {
    std::size_t at = 0;
    const TextMarker* marker = nullptr;  // null: may become one
  };
  [[nodiscard]] Hit find(std::string_view text) const;

  std::vector<TextMarker> markers_;
  std::string held_;
};

}  // namespace verbatim::chat::parsers
