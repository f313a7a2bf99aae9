#include "gateway/segments.h"

#include <array>

namespace verbatim::gateway {
namespace {

using message::Field;
using message::SpanSource;
using message::TokenSpan;
using trajectory::Turn;

std::string_view role_word(const Turn& turn, const TokenSpan& span) {
  const std::size_t first = turn.message_count - 1 - turn.messages.size();
  if (span.message == TokenSpan::kNoMessage || span.message < first ||
      span.message - first >= turn.messages.size())
    return "render";
  return message::name(turn.messages[span.message - first].role);
}

// The words of tito.record.v1. A root's prompt is "render" up to its opener; a delta says whose
// message was added.
std::string_view segment_word(const Turn& turn, const TokenSpan& span) {
  if (span.source == SpanSource::kOpener) return "generation_prompt";
  if (!turn.parent) return "render";
  const bool of_message =
      span.source == SpanSource::kMessage || span.source == SpanSource::kTemplate;
  return of_message ? role_word(turn, span) : "render";
}

class SegmentWriter {
 public:
  explicit SegmentWriter(json::Writer& w) : w_(w) { w_.begin_array(); }
  void add(std::uint64_t count, std::string_view source) {
    if (count == 0) return;
    if (source != source_) {
      flush();
      source_ = source;
    }
    end_ += count;
  }
  void finish() {
    flush();
    w_.end_array();
  }

 private:
  void flush() {
    if (end_ == start_) return;
    w_.begin_object()
        .field("start", start_)
        .field("end", end_)
        .field("source", source_)
        .end_object();
    start_ = end_;
  }
  json::Writer& w_;
  std::uint64_t start_ = 0;
  std::uint64_t end_ = 0;
  std::string_view source_;
};

}  // namespace

void write_segments(json::Writer& w, const trajectory::TurnPtr& turn) {
  SegmentWriter segments(w);
  if (turn->parent) segments.add(turn->parent->row_size - turn->parent_trim, "prefix");
  for (const auto& span : turn->spans) segments.add(span.count, segment_word(*turn, span));
  segments.finish();
}

std::string_view name(SpanSource source) {
  static constexpr std::array<std::string_view, 7> kNames{
      "template", "tools", "arguments", "message", "opener", "close", "boundary"};
  return kNames[static_cast<std::size_t>(source)];
}

std::string_view name(Field field) {
  static constexpr std::array<std::string_view, 8> kNames{
      "",     "content", "reasoning_content", "tool_calls.name", "tool_calls.arguments", "call_id",
      "name", "other"};
  return kNames[static_cast<std::size_t>(field)];
}

void write_spans(json::Writer& w, std::span<const TokenSpan> spans) {
  w.begin_array();
  for (const auto& span : spans) {
    w.begin_object()
        .field("count", static_cast<std::uint64_t>(span.count))
        .field("source", name(span.source));
    if (span.message != TokenSpan::kNoMessage)
      w.field("message", static_cast<std::uint64_t>(span.message));
    if (span.field != Field::kNone) w.field("field", name(span.field));
    w.end_object();
  }
  w.end_array();
}

}  // namespace verbatim::gateway
