#include "chat/parsers/testing/pieces.h"

#include <algorithm>

#include "chat/parsers/marker_splitter.h"
#include "json/value.h"

namespace verbatim::chat::parsers::testing {
namespace {

using message::Events;
using message::FinishReason;

constexpr std::string_view kFragments[] = {"\n",
                                           " ",
                                           "\n\n",
                                           "  \n",
                                           "a",
                                           "Sure.",
                                           "\xC3\xA9",
                                           "\xF0\x9F\x98\x80 ok",
                                           "{",
                                           "}",
                                           "\"",
                                           ":",
                                           ",",
                                           "<",
                                           "</",
                                           "<tool",
                                           "think>",
                                           "{}",
                                           "[1]",
                                           "null",
                                           "\\",
                                           "\\\"",
                                           "{\"name\": ",
                                           "\"f\"",
                                           "{\"name\": \"f\", \"arguments\": ",
                                           "\"arguments\": {",
                                           "\"city\": \"Rome\"",
                                           "}}",
                                           "}}}"};

std::string random_value(base::Random& random, unsigned depth);

std::string random_string(base::Random& random) {
  static constexpr std::string_view kInside[] = {
      "a", " ", "\\n", "\\\"", "\\u00e9", "\xE6\x97\xA5", "<", "{", "}", "long text "};
  std::string out = "\"";
  const auto parts = random.below(random.chance(150) ? 60 : 6);
  for (std::uint64_t i = 0; i < parts; ++i) out += kInside[random.below(std::size(kInside))];
  return out + "\"";
}

std::string random_object(base::Random& random, unsigned depth) {
  std::string out = "{";
  const auto members = random.below(4);
  for (std::uint64_t i = 0; i < members; ++i) {
    if (i > 0) out += random.chance(500) ? ", " : ",";
    out += random_string(random) + ": " + random_value(random, depth + 1);
  }
  return out + "}";
}

std::string random_value(base::Random& random, unsigned depth) {
  switch (random.below(depth > 3 ? 4 : 6)) {
    case 0:
      return "12";
    case 1:
      return "null";
    case 2:
      return "-0.5e3";
    case 3:
      return random_string(random);
    case 4:
      return "[" + random_value(random, depth + 1) + "]";
    default:
      return random_object(random, depth);
  }
}

std::string random_call(base::Random& random) {
  const std::string name = "\"name\": \"f" + std::to_string(random.below(3)) + "\"";
  const std::string arguments =
      "\"arguments\": " + (random.chance(850) ? random_object(random, 0) : random_value(random, 0));
  std::string out = random.chance(300) ? "\n{" : "{";
  switch (random.below(8)) {
    case 0:
      out += name;
      break;
    case 1:
      out += arguments;
      break;
    case 2:
      out += arguments + ", " + name;
      break;
    default:
      out += name + ", " + arguments;
  }
  out += "}\n";
  if (random.chance(250)) {  // break it, or cut it
    auto at = random.below(out.size());
    while ((static_cast<unsigned char>(out[at]) & 0xC0) == 0x80) --at;  // between two characters
    out = out.substr(0, at) + (random.chance(500) ? "" : "\x7F" + out.substr(at));
  }
  return out;
}

// Bytes of the character at the start of valid UTF-8.
std::size_t character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return std::min(length, text.size());
}

std::string_view take_run(std::string_view& text, const NextRun& next_run) {
  std::size_t size = 0;
  for (std::size_t left = next_run(); left > 0 && size < text.size(); --left) {
    size += character(text.substr(size));
  }
  const auto run = text.substr(0, size);
  text.remove_prefix(size);
  return run;
}

void add(Outcome& outcome, Events& events) {
  for (auto& event : events) outcome.events.push_back(std::move(event));
  events.clear();
}

void end(Outcome& outcome, Parser& parser, Ending ending) {
  Events events;
  outcome.finish = parser.finish(ending, events);
  add(outcome, events);
  outcome.folded = message::fold(outcome.events);
}

// No half character at either end.
bool whole_text(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    if ((static_cast<unsigned char>(rest.front()) & 0xC0) == 0x80) return false;
    const auto lead = static_cast<unsigned char>(rest.front());
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length > rest.size()) return false;
    rest.remove_prefix(length);
  }
  return true;
}

bool is_object(const std::string& text) {
  const auto document = json::Document::parse(text);
  return document && document->root().is_object();
}

struct Rules {
  std::uint32_t calls = 0;

  std::string operator()(const message::ReasoningDelta& e) const { return text(e.text); }
  std::string operator()(const message::TextDelta& e) const { return text(e.text); }
  std::string operator()(const message::ToolCallStart& e) {
    if (e.index != calls++) return "call numbers are not dense";
    return e.name.empty() ? "a call without a name" : "";
  }
  std::string operator()(const message::ToolCallArguments& e) const {
    return e.index + 1 == calls ? text(e.text) : "arguments of a call that is over";
  }
  std::string operator()(const message::ItemStart&) const { return "a parser knows no items"; }
  std::string operator()(const message::ToolCallEnd& e) const {
    return e.index + 1 == calls ? "" : "the end of a call that is over";
  }
  static std::string text(const std::string& text) {
    if (text.empty()) return "an empty delta";
    return whole_text(text) ? "" : "a delta with half a character";
  }
};

}  // namespace

Pieces split(const Grammar& grammar, std::string_view output) {
  Pieces out;
  while (!output.empty()) {
    std::optional<MarkerIndex> tag;
    for (MarkerIndex i = 0; i < grammar.markers.size(); ++i) {
      if (output.starts_with(grammar.markers[i])) tag = i;
    }
    if (tag) {
      out.push_back({tag, {}});
      output.remove_prefix(grammar.markers[*tag].size());
      continue;
    }
    if (out.empty() || out.back().tag) out.push_back({});
    out.back().text += output.front();
    output.remove_prefix(1);
  }
  return out;
}

std::string spelled(const Grammar& grammar, const Pieces& pieces) {
  std::string out;
  for (const auto& piece : pieces) out += piece.tag ? grammar.markers[*piece.tag] : piece.text;
  return out;
}

Outcome parse(const Grammar& grammar, const TurnStart& start, const Pieces& pieces, Ending ending,
              const NextRun& next_run) {
  Outcome outcome;
  Events events;
  const auto parser = grammar.make(start);
  for (const auto& piece : pieces) {
    if (piece.tag) parser->marker(*piece.tag, events);
    std::string_view rest = piece.text;
    while (!rest.empty()) {
      parser->text(take_run(rest, next_run), events);
      add(outcome, events);
    }
    add(outcome, events);
  }
  end(outcome, *parser, ending);
  return outcome;
}

Outcome parse_text(const Grammar& grammar, const TurnStart& start, std::string_view output,
                   Ending ending, const NextRun& next_run) {
  Outcome outcome;
  Events events;
  const auto parser = grammar.make(start);
  std::vector<MarkerSplitter::TextMarker> markers;
  for (MarkerIndex i = 0; i < grammar.markers.size(); ++i)
    markers.push_back({i, grammar.markers[i]});
  MarkerSplitter splitter(std::move(markers));
  while (!output.empty()) {
    splitter.feed(take_run(output, next_run), *parser, events);
    add(outcome, events);
  }
  splitter.flush(*parser, events);
  add(outcome, events);
  end(outcome, *parser, ending);
  return outcome;
}

Pieces random_pieces(const Grammar& grammar, base::Random& random) {
  Pieces out;
  const auto count = random.below(12);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (random.chance(400)) {
      out.push_back({static_cast<MarkerIndex>(random.below(grammar.markers.size())), {}});
    } else if (random.chance(500)) {
      out.push_back({std::nullopt, random_call(random)});
    } else {
      out.push_back({std::nullopt, std::string(kFragments[random.below(std::size(kFragments))])});
    }
  }
  return out;
}

std::string broken_rule(const Outcome& outcome) {
  Rules rules;
  for (const auto& event : outcome.events) {
    if (auto rule = std::visit(rules, event); !rule.empty()) return rule;
  }
  for (const auto& call : outcome.folded.calls) {
    if (call.complete != is_object(call.arguments)) {
      return call.complete ? "a complete call without an object" : "a cut call looks complete";
    }
  }
  if (outcome.finish !=
          message::client_finish(message::FinishReason::kStop, outcome.folded.complete_calls()) &&
      outcome.finish != FinishReason::kLength) {
    return "the finish reason does not fit the calls";
  }
  return {};
}

}  // namespace verbatim::chat::parsers::testing
