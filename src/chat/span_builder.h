#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/token.h"
#include "chat/jinja/text.h"
#include "message/span.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::chat {

using base::TokenId;
using base::TokenIds;

struct SpanRules {
  std::optional<TokenId> close_id;  // template text behind it belongs to the next message
  std::span<const TokenId>
      message_openers;  // template text from them on belongs to the next message
  std::uint32_t first_message =
      0;  // number of the text's message 0 in the conversation (modulo 2^32)
  std::size_t opener = SIZE_MAX;  // byte where the generation prompt begins
};

// Byte where the generation prompt begins: the last `opener` behind which all is template text; the
// text's size if there is none.
std::size_t find_opener(const jinja::Text& text, std::string_view opener);

// The spans of encoded text; `begins` are byte offsets per id. A token has the source of its first
// byte.
std::vector<message::TokenSpan> build_spans(const jinja::Text& text, const TokenIds& ids,
                                            std::span<const std::uint32_t> begins,
                                            const SpanRules& rules);

// Template ids in front of the first added token become kBoundary.
void mark_boundary(const TokenIds& ids, std::vector<message::TokenSpan>& spans,
                   const tokenizer::Tokenizer& tokenizer);

void drop_first_id(TokenIds& ids, std::vector<message::TokenSpan>& spans);

}  // namespace verbatim::chat
