#include "chat/parsers/parse_command.h"

#include <algorithm>
#include <vector>

#include "chat/parsers/marker_splitter.h"
#include "chat/parsers/parser.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/fold.h"

namespace verbatim::chat::parsers {
namespace {

using message::Events;
using message::FinishReason;

// A stretch of the output: one token that is a tag, or ordinary text.
struct Segment {
  bool special = false;
  std::string text;
};

base::Result<json::Document> parse_option(std::string_view option, const std::string& text) {
  auto document = json::Document::parse(text);
  if (!document) return std::move(document).error().within(option);
  if (!document->root().is_array()) {
    return base::invalid(
        std::string(option),
        "expected an array, found " + std::string(json::describe(document->root().kind())));
  }
  return std::move(*document);
}

// Every spelled tag is taken for the token.
std::vector<Segment> split(const Grammar& grammar, std::string_view text) {
  std::vector<Segment> out;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    std::string_view tag;
    for (const auto& marker : grammar.markers) {
      if (rest.starts_with(marker)) tag = marker;
    }
    if (rest.starts_with(grammar.turn_end)) tag = grammar.turn_end;
    if (tag.empty()) {
      ++at;
      continue;
    }
    if (at > done) out.push_back({false, std::string(text.substr(done, at - done))});
    out.push_back({true, std::string(tag)});
    at += tag.size();
    done = at;
  }
  if (done < text.size()) out.push_back({false, std::string(text.substr(done))});
  return out;
}

base::Result<std::vector<Segment>> read_segments(const Grammar& grammar,
                                                 const ParseRequest& request) {
  if (!request.segments) return split(grammar, request.output);
  auto document = parse_option("segments", *request.segments);
  if (!document) return std::move(document).error();
  std::vector<Segment> out;
  for (const auto& item : document->root()) {
    if (!item.value.is_object()) return base::invalid("segments", "expected objects");
    if (item.value.find("text_with_markers")) return split(grammar, request.output);
    const auto special = item.value.find("special");
    const auto text = special ? special : item.value.find("text");
    if (!text || !text->is_string()) {
      return base::invalid("segments", "expected a string under \"special\" or \"text\"");
    }
    out.push_back({special.has_value(), text->string()});
  }
  return out;
}

// Ends of the chunks, as byte offsets in the output.
base::Result<std::vector<std::size_t>> read_chunks(const ParseRequest& request) {
  std::vector<std::size_t> ends;
  if (!request.chunks) return ends;
  auto document = parse_option("chunks", *request.chunks);
  if (!document) return std::move(document).error();
  std::size_t end = 0;
  for (const auto& item : document->root()) {
    const auto length = item.value.is_number() ? item.value.integer() : std::nullopt;
    if (!length || *length < 0) return base::invalid("chunks", "expected lengths in bytes");
    end += static_cast<std::size_t>(*length);
    ends.push_back(end);
  }
  return ends;
}

// Length of the whole characters at the start of `text` (valid UTF-8 but for a cut at its end).
std::size_t whole_characters(std::string_view text) {
  std::size_t lead = text.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if (length > back) lead = text.size() - back;
    break;
  }
  return lead;
}

// Feeds the segments to a parser, cut into chunks; a border inside a tag moves to its end.
class Feeder {
 public:
  Feeder(const Grammar& grammar, const ParseRequest& request, const TurnStart& start)
      : grammar_(grammar),
        parser_(grammar.make(start)),
        splitter_(request.tags_are_text ? all_markers(grammar)
                                        : std::vector<MarkerSplitter::TextMarker>{}),
        tags_are_text_(request.tags_are_text) {}

  void run(const std::vector<Segment>& segments, const std::vector<std::size_t>& ends) {
    std::size_t at = 0;
    auto end = ends.begin();
    for (const auto& segment : segments) {
      std::size_t done = 0;
      const bool token = segment.special && (!tags_are_text_ || segment.text == grammar_.turn_end);
      while (!token && end != ends.end() && *end < at + segment.text.size()) {
        text(std::string_view(segment.text).substr(done, *end - at - done));
        done = *end - at;
        cut();
        ++end;
      }
      const auto rest = std::string_view(segment.text).substr(done);
      at += segment.text.size();
      token ? special(rest) : text(rest);
      while (end != ends.end() && *end <= at) {
        cut();
        ++end;
      }
    }
  }

  FinishReason finish(Ending ending) {
    splitter_.flush(*parser_, chunk_);
    const FinishReason reason = parser_->finish(ending, chunk_);
    cut();
    return reason;
  }

  [[nodiscard]] const Events& events() const { return events_; }

 private:
  static std::vector<MarkerSplitter::TextMarker> all_markers(const Grammar& grammar) {
    std::vector<MarkerSplitter::TextMarker> out;
    for (MarkerIndex i = 0; i < grammar.markers.size(); ++i) out.push_back({i, grammar.markers[i]});
    return out;
  }

  void text(std::string_view text) {
    if (ended_) return;
    held_ += text;
    const std::size_t whole = whole_characters(held_);
    if (whole > 0) splitter_.feed(std::string_view(held_).substr(0, whole), *parser_, chunk_);
    held_.erase(0, whole);
  }

  void special(std::string_view tag) {
    if (ended_) return;
    splitter_.flush(*parser_, chunk_);
    ended_ = tag == grammar_.turn_end;
    if (ended_) return;
    const auto found = std::find(grammar_.markers.begin(), grammar_.markers.end(), tag);
    if (found == grammar_.markers.end()) {
      parser_->text(tag, chunk_);
      return;
    }
    parser_->marker(static_cast<MarkerIndex>(found - grammar_.markers.begin()), chunk_);
  }

  void cut() {
    for (auto& event : chunk_) events_.push_back(std::move(event));
    chunk_.clear();
  }

  const Grammar& grammar_;
  std::unique_ptr<Parser> parser_;
  MarkerSplitter splitter_;
  bool tags_are_text_;
  bool ended_ = false;
  std::string held_;  // a character that a chunk border cuts
  Events chunk_;
  Events events_;
};

std::string call_id(std::uint32_t index, const std::string& native) {
  return native.empty() ? "call_" + std::to_string(index) : native;
}

struct DeltaWriter {
  json::Writer& w;

  json::Writer& call(std::uint32_t index) const {
    return w.key("tool_calls").begin_array().begin_object().field("index", std::int64_t{index});
  }
  void end() const { w.end_object().end_object().end_array(); }
  void operator()(const message::ReasoningDelta& e) const { w.field("reasoning_content", e.text); }
  void operator()(const message::TextDelta& e) const { w.field("content", e.text); }
  void operator()(const message::ToolCallStart& e) const {
    call(e.index).field("id", call_id(e.index, e.native_id)).field("type", "function");
    w.key("function").begin_object().field("name", e.name).field("arguments", "");
    end();
  }
  void operator()(const message::ToolCallArguments& e) const {
    call(e.index).key("function").begin_object().field("arguments", e.text);
    end();
  }
  void operator()(const message::ToolCallEnd&) const {}
  void operator()(const message::ItemStart&) const {}
};

void write_text(json::Writer& w, std::string_view key, const std::string& text) {
  w.key(key);
  text.empty() ? w.null() : w.string(text);
}

std::string answer(const Events& events, FinishReason reason) {
  const auto folded = message::fold(events);
  json::Writer w;
  w.begin_object();
  write_text(w, "reasoning", folded.reasoning);
  write_text(w, "content", folded.text);
  w.key("tool_calls").begin_array();
  for (std::size_t i = 0; i < folded.calls.size(); ++i) {
    const auto& call = folded.calls[i];
    w.begin_object().field("id", call_id(static_cast<std::uint32_t>(i), call.native_id));
    w.field("name", call.name).field("arguments", call.arguments);
    if (!call.complete) w.field("incomplete", true);
    w.end_object();
  }
  w.end_array().field("finish_reason", message::name(reason));
  w.key("deltas").begin_array();
  for (const auto& event : events) {
    if (std::holds_alternative<message::ToolCallEnd>(event)) continue;
    w.begin_object();
    std::visit(DeltaWriter{w}, event);
    w.end_object();
  }
  w.end_array().end_object();
  return w.take();
}

}  // namespace

base::Result<std::string> parse_command(const ParseRequest& request) {
  const Grammar* grammar = grammar_named(request.grammar);
  if (grammar == nullptr) {
    return base::invalid("grammar", "unknown grammar \"" + request.grammar + "\", expected hermes");
  }
  if (request.finish != "stop" && request.finish != "length") {
    return base::invalid("finish", "expected stop or length, found \"" + request.finish + "\"");
  }
  const auto tools = parse_option("tools", request.tools);
  if (!tools) return tools.error();
  const auto segments = read_segments(*grammar, request);
  if (!segments) return segments.error();
  const auto ends = read_chunks(request);
  if (!ends) return ends.error();
  Feeder feeder(*grammar, request,
                {.reasoning_open = reasoning_open(*grammar, request.prompt_tail),
                 .tools = !tools->root().empty()});
  feeder.run(*segments, *ends);
  const auto reason =
      feeder.finish(request.finish == "length" ? Ending::kLength : Ending::kByItself);
  return answer(feeder.events(), reason);
}

}  // namespace verbatim::chat::parsers
