#include "cassette/yaml_node.h"

#include <algorithm>
#include <array>
#include <string>

#include "json/value.h"
#include "json/writer.h"

namespace verbatim::cassette {
namespace {

// The words of YAML 1.1 and 1.2 for null and booleans: some reader takes each for no string.
constexpr std::array<std::string_view, 11> kWords = {"null", "~",   "true", "false", "yes", "no",
                                                     "on",   "off", "y",    "n",     ""};

bool is_json_number(std::string_view text) {
  if (text.empty() || (text[0] != '-' && (text[0] < '0' || text[0] > '9'))) return false;
  const auto parsed = json::Document::parse(std::string(text));
  return parsed.ok() && parsed->root().is_number() && parsed->root().raw() == text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Something that a reader of YAML may take for a number although it is none of JSON: what begins
// like one and goes on with what numbers have in YAML 1.1 (signs, underscores, other bases,
// sexagesimals, dots at either end).
bool may_be_number(std::string_view text) {
  const std::string small = lower(text);
  std::string_view rest = small;
  if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) rest.remove_prefix(1);
  if (rest == ".inf" || rest == ".nan") return true;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool begins =
      !rest.empty() && (digit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && digit(rest[1])));
  if (!begins) return false;
  if (rest.starts_with("0x"))
    return rest.find_first_not_of("0123456789abcdef_", 2) == std::string_view::npos;
  if (rest.starts_with("0b") || rest.starts_with("0o"))
    return rest.find_first_not_of("01234567_", 2) == std::string_view::npos;
  return rest.find_first_not_of("0123456789_.:e+-") == std::string_view::npos;
}

bool append_plain(std::string& out, const YamlNode& node, std::vector<Problem>& problems) {
  const std::string small = lower(node.text);
  if (small == "null" || small == "~" || small.empty()) {
    out += "null";
  } else if (small == "true" || small == "false") {
    out += small;
  } else if (is_json_number(node.text)) {
    out += node.text;
  } else if (may_be_number(node.text)) {
    problems.push_back({node.line, "found " + node.text +
                                       ", which is no number of JSON: write it as one, or in "
                                       "quotes where it is a string"});
    return false;
  } else {
    json::append_string(out, node.text);
  }
  return true;
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  if (kind != Kind::kMapping) return nullptr;
  const auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? nullptr : &items[static_cast<std::size_t>(at - keys.begin())];
}

std::string_view describe(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMapping:
      return "a mapping";
    case YamlNode::Kind::kScalar:
      break;
  }
  if (!node.plain) return "a string";
  if (is_json_number(node.text)) return "a number";
  const std::string small = lower(node.text);
  if (small.empty()) return "nothing";
  return std::find(kWords.begin(), kWords.end(), small) == kWords.end() ? "a string" : "a word";
}

bool append_json(std::string& out, const YamlNode& node, std::vector<Problem>& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    if (node.plain) return append_plain(out, node, problems);
    json::append_string(out, node.text);
    return true;
  }
  const bool mapping = node.kind == YamlNode::Kind::kMapping;
  bool good = true;
  out += mapping ? '{' : '[';
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    if (i != 0) out += ',';
    if (mapping) {
      json::append_string(out, node.keys[i]);
      out += ':';
    }
    good = append_json(out, node.items[i], problems) && good;
  }
  out += mapping ? '}' : ']';
  return good;
}

bool needs_quotes(std::string_view text) {
  const std::string small = lower(text);
  if (std::find(kWords.begin(), kWords.end(), small) != kWords.end()) return true;
  // Days and times, which some readers make of "2026-12-01", begin with a digit, too.
  const char first = text.front();
  return first == '.' || first == '-' || first == '+' || first == '=' || first == '<' ||
         (first >= '0' && first <= '9');
}

}  // namespace verbatim::cassette
