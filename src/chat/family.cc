#include "chat/family.h"

#include <algorithm>
#include <cstdlib>

#include "chat/families_embedded.h"
#include "chat/parsers/parser.h"
#include "json/object_reader.h"

namespace verbatim::chat {
namespace {

using base::invalid;
using base::Result;

using Reader = json::ObjectReader;

Family::Base read_base(Reader& reader, std::string_view key, const json::Value& list) {
  Family::Base base;
  if (!list.is_array()) {
    reader.expected(key, "lists of roles", list);
    return base;
  }
  for (const auto member : list) {
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
  return base;
}

std::vector<Family::Base> read_bases(Reader& reader, std::string_view key) {
  std::vector<Family::Base> bases;
  for (const auto& list : reader.elements(key)) bases.push_back(read_base(reader, key, list));
  return bases;
}

void read_recognition(Reader& r, Family& f) {
  auto recognise = r.object("recognise");
  if (!recognise) return r.fail("recognise", "missing");
  recognise->only({"template_contains", "added_tokens"});
  f.template_contains = recognise->strings("template_contains");
  f.added_tokens = recognise->strings("added_tokens");
  // An empty list fits every template.
  if (f.template_contains.empty()) recognise->fail("template_contains", "missing");
  if (f.added_tokens.empty()) recognise->fail("added_tokens", "missing");
}

void read_ends(Reader& r, Family& f) {
  const bool after_close = f.boundary == Family::Boundary::kAfterClose;
  if (after_close) f.close = r.required("close");
  f.stop = r.strings("stop");
  if (f.stop.empty()) r.fail("stop", "missing");
  f.message_openers = r.strings("message_openers");
  if (!after_close && f.message_openers.empty()) r.fail("message_openers", "missing");
  for (const auto& opener : f.message_openers) {
    if (std::find(f.stop.begin(), f.stop.end(), opener) == f.stop.end())
      r.fail("message_openers", "\"" + opener + "\" is none of the stop tokens");
  }
  f.opener = r.required("opener");
}

void read_reasoning(Reader& r, Family& f) {
  if (auto reasoning = r.object("reasoning")) {
    reasoning->only({"open", "close"});
    f.reasoning_open = reasoning->required("open");
    f.reasoning_close = reasoning->required("close");
  }
  if (auto close = r.object("synthetic_close")) {
    close->only({"plain", "in_reasoning"});
    f.synthetic_close = close->text("plain");
    f.synthetic_close_in_reasoning = close->text("in_reasoning");
  }
  if (auto not_query = r.object("not_a_query")) {
    not_query->only({"starts", "ends"});
    f.not_a_query_start = not_query->required("starts");
    f.not_a_query_end = not_query->required("ends");
  }
}

void read_appending(Reader& r, Family& f) {
  if (auto bases = r.object("bases")) {
    bases->only({"query", "no_query"});
    f.query_bases = read_bases(*bases, "query");
    f.no_query_bases = read_bases(*bases, "no_query");
  } else {
    r.fail("bases", "missing");
  }
  f.cut = r.strings("cut");
  for (const auto& field : f.cut) {
    if (field != "reasoning" && field != "call_id" && field != "name")
      r.fail("cut", "unknown word \"" + field + "\"");
  }
  f.opener_arguments = r.strings("opener_arguments");
  f.native_id = r.text("native_id").value_or("");
  // Ids that agents see are never the template's to print.
  if (f.native_id.empty() != f.cuts("call_id"))
    r.fail("native_id", "missing where \"cut\" has no call_id, and only then to be given");
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
  std::optional<base::Error> error;
  Reader r(doc->root(), "family file", error);
  r.only({"name", "about", "recognise", "grammar", "arguments", "developer", "close", "stop",
          "boundary", "message_openers", "opener", "reasoning", "synthetic_close", "not_a_query",
          "bases", "native_id", "cut", "opener_arguments"});
  Family f;
  f.name = r.required("name");
  f.about = r.required("about");
  read_recognition(r, f);
  f.grammar = r.required("grammar");
  if (parsers::grammar_named(f.grammar) == nullptr)
    r.fail("grammar", "unknown word \"" + f.grammar + "\"");
  f.arguments = r.word<Family::Arguments>("arguments", {{"object", Family::Arguments::kObject},
                                                        {"string", Family::Arguments::kString}});
  f.developer = r.word<Family::Developer>("developer", {{"refuse", Family::Developer::kRefuse},
                                                        {"system", Family::Developer::kSystem}});
  f.boundary =
      r.word<Family::Boundary>("boundary", {{"after_close", Family::Boundary::kAfterClose},
                                            {"next_opener", Family::Boundary::kNextOpener}});
  read_ends(r, f);
  read_reasoning(r, f);
  read_appending(r, f);
  if (error) return *std::move(error);
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
