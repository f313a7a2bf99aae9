#include "simulate/words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "json/dumps.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::simulate {
namespace {

constexpr std::array<std::string_view, 24> kWords = {
    "the",  "weather",   "in",     "Rome",       "is",      "fine",     "list",        "files",
    "42",   "3.14",      "naïve",  "Größe",      "北京",    "🙂",       "👩‍🚀", "\"quoted\"",
    "a\\b", "new\nline", "tab\tx", "<|im_end|>", "<think>", "</think>", "<tool_call>", "don't"};

// The tokens that only callers spell; the model would mean them.
constexpr std::size_t kHarmless = 19;

std::string words(base::Random& random, std::uint64_t count, std::size_t vocabulary) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += kWords[random.below(vocabulary)];
  }
  return text;
}

void append_canonical(std::string& out, const json::Value& value) {
  if (value.is_array()) {
    out += '[';
    for (const auto& item : value) append_canonical(out, item.value);
    out += ']';
  } else if (value.is_object()) {
    std::vector<std::pair<std::string, std::string>> members;
    for (const auto& member : value) {
      auto& [name, text] = members.emplace_back(member.name(), "");
      append_canonical(text, member.value);
    }
    std::sort(members.begin(), members.end());
    out += '{';
    for (const auto& [name, text] : members) out += name + ':' + text + ',';
    out += '}';
  } else {
    json::append_dumps(out, value);
    out += ' ';
  }
}

}  // namespace

std::string some_words(base::Random& random, std::uint64_t count) {
  return words(random, count, random.chance(150) ? kWords.size() : kHarmless);
}

std::string some_arguments(base::Random& random) {
  json::Writer w;
  w.begin_object().field("city", words(random, 1 + random.below(3), kHarmless));
  if (random.chance(500)) w.field("days", static_cast<std::int64_t>(random.below(30)));
  if (random.chance(300)) w.key("at").begin_array().number(0.5).null().boolean(true).end_array();
  if (random.chance(200)) w.key("near").begin_object().field("km", 2.25).end_object();
  w.end_object();
  return w.take();
}

std::string spelled_otherwise(std::string_view json, base::Random& random) {
  const auto doc = json::Document::parse(std::string(json));
  if (!doc || !doc->root().is_object()) return std::string(json);
  std::vector<std::string> members;
  for (const auto& member : doc->root()) {
    std::string text(member.raw_name());
    text += random.chance(500) ? ": " : " :";
    json::append_dumps(text, member.value);
    members.push_back(std::move(text));
  }
  if (random.chance(500)) std::reverse(members.begin(), members.end());
  std::string out = "{";
  for (const auto& member : members) {
    if (out.size() > 1) out += ", ";
    out += member;
  }
  return out + " }";
}

std::string canonical(std::string_view json) {
  const auto doc = json::Document::parse(std::string(json));
  if (!doc) return std::string(json);
  std::string out;
  append_canonical(out, doc->root());
  return out;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \n\r\t\v\f";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

}  // namespace verbatim::simulate
