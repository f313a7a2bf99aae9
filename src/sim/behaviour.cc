#include "sim/behaviour.h"

#include <array>
#include <utility>

#include "json/dumps.h"
#include "json/value.h"

namespace verbatim::sim {
namespace {

using json::Document;
using json::Value;

constexpr std::array kNames = {
    std::pair{Behaviour::kCallFirstToolThenAnswer, std::string_view("call-first-tool-then-answer")},
    std::pair{Behaviour::kEcho, std::string_view("echo")},
    std::pair{Behaviour::kFixedText, std::string_view("fixed-text")}};

constexpr std::array<std::string_view, 5> kTurnMarks = {"<|im_start|>", "<|system|>", "<|user|>",
                                                        "<|observation|>", "<|assistant|>"};
constexpr std::string_view kTurnEnd = "<|im_end|>";
constexpr std::size_t kLongestQuote = 200;

std::size_t last_mark(std::string_view text) {
  std::size_t at = std::string_view::npos;
  for (const auto mark : kTurnMarks) {
    const auto found = text.rfind(mark);
    if (found != std::string_view::npos && (at == std::string_view::npos || found > at)) at = found;
  }
  return at;
}

// A turn without its opening line and its end mark.
std::string_view turn_body(std::string_view turn) {
  const auto line = turn.find('\n');
  std::string_view body = line == std::string_view::npos ? "" : turn.substr(line + 1);
  return body.substr(0, body.rfind(kTurnEnd));
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \n\r\t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n\r\t") - begin + 1);
}

std::string quote(std::string_view text) {
  text = trim(text);
  if (text.size() <= kLongestQuote) return std::string(text);
  std::size_t n = kLongestQuote;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xc0) == 0x80) --n;
  return std::string(text.substr(0, n)) + "...";
}

std::optional<std::string> response_in(std::string_view turn) {
  constexpr std::string_view kOpen = "<tool_response>", kClose = "</tool_response>";
  const auto close = turn.rfind(kClose);
  const auto open = turn.substr(0, close).rfind(kOpen);
  if (close == std::string_view::npos || open == std::string_view::npos) return std::nullopt;
  const auto begin = open + kOpen.size();
  return std::string(trim(turn.substr(begin, close - begin)));
}

// {"type":"function","function":{"name":...}} or {"name":..., "parameters":...}.
std::optional<Value> function_of(const Value& tool) {
  if (!tool.is_object()) return std::nullopt;
  const auto inner = tool.get("function");
  const Value function = inner && inner->is_object() ? *inner : tool;
  const auto called = function.get("name");
  if (!called || !called->is_string()) return std::nullopt;
  if (!inner && !function.get("parameters")) return std::nullopt;
  return function;
}

std::optional<std::string> first_tool(std::string_view prompt) {
  while (!prompt.empty()) {
    const auto end = prompt.find('\n');
    std::string_view line = trim(prompt.substr(0, end));
    prompt = end == std::string_view::npos ? "" : prompt.substr(end + 1);
    line = line.substr(0, line.find(kTurnEnd));
    if (!line.starts_with('{')) continue;
    const auto parsed = Document::parse(std::string(line));
    if (parsed.ok() && function_of(parsed->root())) return std::string(line);
  }
  return std::nullopt;
}

// The word of `text` that looks most like a name: the last one in capitals, else the last.
std::string name_in(std::string_view text) {
  std::string_view last, capital;
  constexpr std::string_view kBreaks = " \n\t.,;:!?\"'()[]{}<>";
  while (!text.empty()) {
    const auto begin = text.find_first_not_of(kBreaks);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find_first_of(kBreaks));
    text.remove_prefix(word.size());
    last = word;
    if (word[0] >= 'A' && word[0] <= 'Z') capital = word;
  }
  return std::string(capital.empty() ? last : capital);
}

// Writes values that fit a schema.
class Inventor {
 public:
  explicit Inventor(std::string hint) : hint_(std::move(hint)) {}

  void object(const Value& schema, unsigned depth) {
    out_ += '{';
    const auto properties = schema.get("properties");
    bool first = true;
    if (properties && properties->is_object() && depth < kDeepest) {
      for (const auto& member : *properties) {
        if (!wanted(schema, member.name())) continue;
        if (!first) out_ += ", ";
        first = false;
        json::append_dumped_string(out_, member.name(), false);
        out_ += ": ";
        value(member.value, member.name(), depth + 1);
      }
    }
    out_ += '}';
  }
  std::string take() { return std::move(out_); }

 private:
  static constexpr unsigned kDeepest = 8;

  static bool wanted(const Value& schema, const std::string& property) {
    const auto required = schema.get("required");
    if (!required || !required->is_array() || required->empty()) return true;
    for (const auto& member : *required) {
      if (member.value.is_string() && member.value.string() == property) return true;
    }
    return false;
  }

  static std::string type_of(const Value& schema) {
    if (!schema.is_object()) return "string";
    const auto type = schema.get("type");
    if (type && type->is_string()) return type->string();
    if (type && type->is_array()) {
      for (const auto& member : *type) {
        if (member.value.is_string() && member.value.string() != "null")
          return member.value.string();
      }
    }
    return schema.get("properties") ? "object" : "string";
  }

  void value(const Value& schema, const std::string& property, unsigned depth) {
    const auto choices = schema.is_object() ? schema.get("enum") : std::nullopt;
    if (choices && choices->is_array() && !choices->empty()) {
      json::append_dumps(out_, (*choices->begin()).value);
      return;
    }
    const std::string type = type_of(schema);
    if (type == "object") return object(schema, depth);
    if (type == "integer") {
      out_ += '3';
    } else if (type == "number") {
      out_ += "1.5";
    } else if (type == "boolean") {
      out_ += "true";
    } else if (type == "array") {
      array(schema, property, depth);
    } else {
      json::append_dumped_string(out_, hint_.empty() ? property : hint_, false);
    }
  }

  void array(const Value& schema, const std::string& property, unsigned depth) {
    const auto items = schema.get("items");
    out_ += '[';
    if (items && depth < kDeepest) value(*items, property, depth + 1);
    out_ += ']';
  }

  std::string hint_;
  std::string out_;
};

std::string call_of(const std::string& tool, std::string_view hint) {
  const auto parsed = Document::parse(tool);
  const auto function = function_of(parsed->root());
  const auto parameters = function->get("parameters");
  std::string call = "<tool_call>\n{\"name\": ";
  json::append_dumped_string(call, function->get("name")->string(), false);
  call += ", \"arguments\": ";
  call += plausible_arguments(parameters ? parameters->raw() : "{}", hint);
  return call + "}\n</tool_call>";
}

std::string think(const PromptView& prompt, const ReplyOptions& options, std::string_view what) {
  if (prompt.prefill.find("</think>") != std::string::npos) return {};
  const bool opened = prompt.prefill.find("<think>") != std::string::npos;
  if (!opened && !options.thinks) return {};
  std::string text = opened ? "" : "<think>\n";
  return text.append(what).append("\n</think>\n\n");
}

}  // namespace

std::string_view name(Behaviour behaviour) {
  for (const auto& [each, text] : kNames) {
    if (each == behaviour) return text;
  }
  return {};
}

std::optional<Behaviour> behaviour_named(std::string_view text) {
  for (const auto& [behaviour, each] : kNames) {
    if (each == text) return behaviour;
  }
  return std::nullopt;
}

PromptView read_prompt(std::string_view prompt) {
  PromptView view;
  const auto opener = last_mark(prompt);
  if (opener == std::string_view::npos) {
    view.last_turn = prompt;
    return view;
  }
  const std::string_view opened = prompt.substr(opener);
  const auto line = opened.find('\n');
  if (line != std::string_view::npos) view.prefill = opened.substr(line + 1);
  const std::string_view before = prompt.substr(0, opener);
  const auto last = last_mark(before);
  const std::string_view turn = last == std::string_view::npos ? before : before.substr(last);
  view.last_turn = trim(turn_body(turn));
  view.tool_response = response_in(turn);
  view.tool = first_tool(before);
  return view;
}

std::string plausible_arguments(std::string_view schema, std::string_view hint) {
  const auto parsed = Document::parse(std::string(schema));
  if (!parsed.ok() || !parsed->root().is_object()) return "{}";
  Inventor inventor(name_in(hint));
  inventor.object(parsed->root(), 0);
  return inventor.take();
}

std::string reply_text(std::string_view prompt, const ReplyOptions& options) {
  if (options.behaviour == Behaviour::kFixedText) return options.fixed_text;
  const PromptView view = read_prompt(prompt);
  if (options.behaviour == Behaviour::kEcho) return view.last_turn;
  if (view.tool_response) {
    return think(view, options, "The tool has answered.") +
           "The tool says: " + quote(*view.tool_response);
  }
  if (view.tool)
    return think(view, options, "I need the tool for that.") + call_of(*view.tool, view.last_turn);
  return think(view, options, "There is no tool for that.") + "You said: " + quote(view.last_turn);
}

}  // namespace verbatim::sim
