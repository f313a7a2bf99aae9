#include "cli/demo_record.h"

#include "json/value.h"

namespace verbatim::cli {
namespace {

using base::Result;

constexpr std::uint64_t kMaxFile = 64U << 20;

Result<std::vector<RecordSpan>> read_spans(const std::string& line) {
  const auto doc = json::Document::parse(line);
  if (!doc) return doc.error();
  const auto spans = doc->root().get("spans");
  if (!spans || !spans->is_array()) return base::invalid("spans", "expected an array");
  std::vector<RecordSpan> read;
  for (const auto member : *spans) {
    const auto count = member.value.get("count");
    const auto source = member.value.get("source");
    const auto message = member.value.get("message");
    RecordSpan span;
    span.count = static_cast<std::size_t>(count->integer().value_or(0));
    span.source = source->string();
    if (message) span.message = static_cast<std::size_t>(message->integer().value_or(0));
    read.push_back(std::move(span));
  }
  return read;
}

}  // namespace

Result<std::vector<DemoTurn>> read_demo_record(base::Files& files, const std::string& path) {
  const auto text = files.read(path, kMaxFile);
  if (!text) return text.error();
  std::vector<DemoTurn> turns;
  std::string_view rest = *text;
  for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    auto turn = exporting::read_record(line);
    if (!turn) return std::move(turn).error().within(path);
    if (!*turn) continue;
    auto spans = read_spans(line);
    if (!spans) return std::move(spans).error().within(path);
    DemoTurn read{std::move(**turn), 0, std::move(*spans)};
    std::size_t added = 0;
    for (const auto& span : read.spans) added += span.count;
    if (added > read.turn.prompt.size()) return base::invalid(path, "more spans than prompt ids");
    read.inherited = read.turn.prompt.size() - added;
    turns.push_back(std::move(read));
  }
  return turns;
}

}  // namespace verbatim::cli
