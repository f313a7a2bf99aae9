#include "chat/span_builder.h"

#include <algorithm>

#include "chat/context.h"

namespace verbatim::chat {

using message::SpanSource;
using message::TokenSpan;

namespace {

void append(std::vector<TokenSpan>& spans, TokenSpan span) {
  if (!spans.empty()) {
    TokenSpan joined = spans.back();
    joined.count = span.count;
    if (joined == span) {
      spans.back().count += span.count;
      return;
    }
  }
  spans.push_back(span);
}

// One span per id, sources only.
std::vector<TokenSpan> sources(const jinja::Text& text, std::span<const std::uint32_t> begins,
                               const SpanRules& rules) {
  std::vector<TokenSpan> spans;
  spans.reserve(begins.size());
  std::size_t run = 0;
  std::size_t run_end = text.runs.empty() ? 0 : text.runs[0].size;
  for (const auto begin : begins) {
    while (begin >= run_end && run + 1 < text.runs.size()) run_end += text.runs[++run].size;
    TokenSpan span{1};
    if (begin >= rules.opener) {
      span.source = SpanSource::kOpener;
    } else {
      const Source source = source_of(text.runs[run].source);
      span.source = source.kind;
      span.field = source.field;
      if (source.kind == SpanSource::kMessage) span.message = source.message + rules.first_message;
    }
    spans.push_back(span);
  }
  return spans;
}

// Tells for template ids which message they introduce or close.
void attribute_template(std::vector<TokenSpan>& spans, const TokenIds& ids,
                        const SpanRules& rules) {
  std::uint32_t current = TokenSpan::kNoMessage;
  std::size_t pending =
      0;  // template ids from here to the next message's first id are that message's
  bool waiting = true;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    TokenSpan& span = spans[i];
    if (span.source == SpanSource::kMessage) {
      if (waiting) {
        for (std::size_t k = pending; k < i; ++k) {
          if (spans[k].source == SpanSource::kTemplate) spans[k].message = span.message;
        }
      }
      current = span.message;
      waiting = false;
      continue;
    }
    if (span.source != SpanSource::kTemplate) continue;
    const bool opens = std::find(rules.message_openers.begin(), rules.message_openers.end(),
                                 ids[i]) != rules.message_openers.end();
    if (!waiting && opens) {
      waiting = true;
      pending = i;
    }
    if (!waiting) span.message = current;
    if (!waiting && rules.close_id && ids[i] == *rules.close_id) {
      waiting = true;
      pending = i + 1;
    }
  }
}

}  // namespace

std::size_t find_opener(const jinja::Text& text, std::string_view opener) {
  std::size_t tail = text.bytes.size();
  for (auto run = text.runs.rbegin(); run != text.runs.rend() && run->source == jinja::kTemplate;
       ++run)
    tail -= run->size;
  const auto at = text.bytes.rfind(opener);
  return at == std::string::npos || at < tail ? text.bytes.size() : at;
}

std::vector<TokenSpan> build_spans(const jinja::Text& text, const TokenIds& ids,
                                   std::span<const std::uint32_t> begins, const SpanRules& rules) {
  auto single = sources(text, begins, rules);
  attribute_template(single, ids, rules);
  std::vector<TokenSpan> spans;
  for (const auto& span : single) append(spans, span);
  return spans;
}

void mark_boundary(const TokenIds& ids, std::vector<TokenSpan>& spans,
                   const tokenizer::Tokenizer& tokenizer) {
  std::uint32_t count = 0;
  while (count < ids.size() && tokenizer.added(ids[count]) == nullptr) ++count;
  if (count == 0 || spans.front().source != SpanSource::kTemplate || spans.front().count < count)
    return;
  spans.front().count -= count;
  if (spans.front().count == 0) spans.erase(spans.begin());
  spans.insert(spans.begin(), TokenSpan{count, SpanSource::kBoundary});
}

void drop_first_id(TokenIds& ids, std::vector<TokenSpan>& spans) {
  ids.erase(ids.begin());
  if (--spans.front().count == 0) spans.erase(spans.begin());
}

}  // namespace verbatim::chat
