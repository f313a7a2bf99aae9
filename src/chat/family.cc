#include "chat/family.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "chat/families_embedded.h"
#include "json/value.h"

namespace verbatim::chat {
namespace {

using base::invalid;
using base::Result;

// Reads the members of one object and remembers the first thing that is wrong.
class Reader {
 public:
  Reader(json::Value object, std::string path) : object_(object), path_(std::move(path)) {}

  std::string string(std::string_view key, bool required) {
    const auto value = object_.get(key);
    if (!value) {
      if (required) fail(key, "missing");
      return {};
    }
    if (!value->is_string()) {
      fail(key, "expected a string, found " + std::string(json::describe(value->kind())));
      return {};
    }
    return value->string();
  }

  std::vector<std::string> strings(std::string_view key) {
    std::vector<std::string> list;
    const auto value = object_.get(key);
    if (!value) return list;
    for (const auto member : *value) {
      if (member.value.is_string()) {
        list.push_back(member.value.string());
      } else {
        fail(key, "expected strings");
      }
    }
    return list;
  }

  template <class E>
  E word(std::string_view key, std::initializer_list<std::pair<std::string_view, E>> words) {
    const std::string text = string(key, true);
    for (const auto& [word, value] : words) {
      if (word == text) return value;
    }
    if (!error_) fail(key, "unknown word \"" + text + "\"");
    return words.begin()->second;
  }

  std::optional<Reader> object(std::string_view key) {
    const auto value = object_.get(key);
    if (!value) return std::nullopt;
    return Reader(*value, path_ + std::string(key) + ".");
  }

  void fail(std::string_view key, std::string message) {
    if (!error_)
      error_ = invalid(path_ + std::string(key),
                       "family file, " + path_ + std::string(key) + ": " + std::move(message));
  }
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }
  [[nodiscard]] json::Value value() const { return object_; }

 private:
  json::Value object_;
  std::string path_;
  std::optional<base::Error> error_;
};

std::vector<Family::Base> read_bases(Reader& reader, std::string_view key) {
  std::vector<Family::Base> bases;
  const auto list = reader.value().get(key);
  if (!list) return bases;
  for (const auto entry : *list) {
    Family::Base base;
    for (const auto member : entry.value) {
      std::string word = member.value.is_string() ? member.value.string() : std::string();
      constexpr std::string_view kWith = "+reasoning";
      const bool reasoning = word.ends_with(kWith);
      if (reasoning) word.resize(word.size() - kWith.size());
      if (word != "system" && word != "user" && word != "assistant")
        reader.fail(key, "unknown role \"" + word + "\"");
      base.push_back({std::move(word), reasoning});
    }
    if (base.empty() || base.back().role != "assistant")
      reader.fail(key, "a base ends with an assistant");
    bases.push_back(std::move(base));
  }
  return bases;
}

std::optional<std::string> optional_string(const std::optional<Reader>& reader,
                                           std::string_view key) {
  if (!reader) return std::nullopt;
  const auto value = reader->value().get(key);
  if (!value || !value->is_string()) return std::nullopt;
  return value->string();
}

bool fits(const Family& family, const tokenizer::Tokenizer& tokenizer,
          std::string_view chat_template) {
  const bool text = std::all_of(
      family.template_contains.begin(), family.template_contains.end(),
      [&](const std::string& part) { return chat_template.find(part) != std::string_view::npos; });
  return text &&
         std::all_of(family.added_tokens.begin(), family.added_tokens.end(),
                     [&](const std::string& token) { return tokenizer.added(token) != nullptr; });
}

}  // namespace

bool Family::cuts(std::string_view field) const {
  return std::find(cut.begin(), cut.end(), field) != cut.end();
}

bool Family::opener_only(std::string_view argument) const {
  return std::find(opener_arguments.begin(), opener_arguments.end(), argument) !=
         opener_arguments.end();
}

Result<Family> parse_family(std::string_view json) {
  auto doc = json::Document::parse(std::string(json));
  if (!doc) return std::move(doc).error();
  if (!doc->root().is_object()) return invalid("", "family file: expected an object");
  Reader r(doc->root(), "");
  Family f;
  f.name = r.string("name", true);
  f.about = r.string("about", true);
  if (auto recognise = r.object("recognise")) {
    f.template_contains = recognise->strings("template_contains");
    f.added_tokens = recognise->strings("added_tokens");
  } else {
    r.fail("recognise", "missing");
  }
  f.grammar = r.string("grammar", true);
  f.arguments = r.word<Family::Arguments>("arguments", {{"object", Family::Arguments::kObject},
                                                        {"string", Family::Arguments::kString}});
  f.developer = r.word<Family::Developer>("developer", {{"refuse", Family::Developer::kRefuse},
                                                        {"system", Family::Developer::kSystem}});
  f.boundary =
      r.word<Family::Boundary>("boundary", {{"after_close", Family::Boundary::kAfterClose},
                                            {"next_opener", Family::Boundary::kNextOpener}});
  f.close = r.string("close", f.boundary == Family::Boundary::kAfterClose);
  f.stop = r.strings("stop");
  f.message_openers = r.strings("message_openers");
  f.opener = r.string("opener", true);
  const auto reasoning = r.object("reasoning");
  f.reasoning_open = optional_string(reasoning, "open").value_or("");
  f.reasoning_close = optional_string(reasoning, "close").value_or("");
  const auto synthetic = r.object("synthetic_close");
  f.synthetic_close = optional_string(synthetic, "plain");
  f.synthetic_close_in_reasoning = optional_string(synthetic, "in_reasoning");
  const auto not_query = r.object("not_a_query");
  f.not_a_query_start = optional_string(not_query, "starts").value_or("");
  f.not_a_query_end = optional_string(not_query, "ends").value_or("");
  if (auto bases = r.object("bases")) {
    f.query_bases = read_bases(*bases, "query");
    f.no_query_bases = read_bases(*bases, "no_query");
    if (bases->error()) return *bases->error();
  }
  f.cut = r.strings("cut");
  f.opener_arguments = r.strings("opener_arguments");
  if (r.error()) return *r.error();
  return f;
}

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = [] {
    std::vector<Family> list;
    for (const auto text : kFamilyFiles) {
      auto family = parse_family(text);
      if (!family) std::abort();  // a broken file in the build: family_test names it
      list.push_back(std::move(*family));
    }
    return list;
  }();
  return kFamilies;
}

Result<Family> recognise_family(const tokenizer::Tokenizer& tokenizer,
                                std::string_view chat_template) {
  std::vector<const Family*> found;
  for (const auto& family : families()) {
    if (fits(family, tokenizer, chat_template)) found.push_back(&family);
  }
  if (found.size() == 1) return *found.front();
  std::string message =
      found.empty()
          ? "the chat template and tokenizer belong to no family this build knows; known are:"
          : "the chat template and tokenizer fit more than one family:";
  for (const auto& family : families()) {
    const bool listed =
        found.empty() || std::find(found.begin(), found.end(), &family) != found.end();
    if (listed) message += " " + family.name + " (" + family.about + ");";
  }
  message.back() = '.';
  return base::error(base::ErrorKind::kUnsupported, std::move(message));
}

}  // namespace verbatim::chat
