#include "chat/jinja/markup.h"

#include "chat/jinja/strings.h"

namespace verbatim::chat::jinja {
namespace {

struct Reference {
  std::string_view text;
  char character;
};
constexpr Reference kReferences[] = {{"&amp;", '&'},  {"&lt;", '<'},  {"&gt;", '>'},
                                     {"&#39;", '\''}, {"&#34;", '"'}, {"&quot;", '"'}};

constexpr std::size_t kNone = std::string_view::npos;

// Takes everything from `open` up to `close` out, again and again, until one of them is missing.
Value without(Runtime& runtime, const Value& string, std::string_view open,
              std::string_view close) {
  const StringObject& object = string.string_object();
  TextBuilder out;
  std::size_t done = 0;
  while (runtime.step()) {
    const std::size_t start = object.text.find(open, done);
    const std::size_t end = start == kNone ? kNone : object.text.find(close, start);
    if (end == kNone) break;
    object.append_part_to(out, done, start);
    done = end + close.size();
  }
  object.append_part_to(out, done, object.text.size());
  return runtime.make_string(std::move(out));
}

}  // namespace

Value unescaped(Runtime& runtime, const Value& string) {
  const StringObject& object = string.string_object();
  if (!runtime.scan(object.text.size())) return {};
  TextBuilder out;
  std::size_t done = 0;
  for (std::size_t at = object.text.find('&'); at != kNone; at = object.text.find('&', done)) {
    object.append_part_to(out, done, at);
    const Reference* found = nullptr;
    for (const Reference& reference : kReferences) {
      if (object.text.substr(at, reference.text.size()) == reference.text) found = &reference;
    }
    const char next = at + 1 < object.text.size() ? object.text[at + 1] : ' ';
    const bool other = next == '#' || (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
    if (found == nullptr && other)
      return runtime.unsupported("HTML character references other than & < > ' \"");
    out.append(1, found != nullptr ? found->character : '&', object.source_at(at));
    done = at + (found != nullptr ? found->text.size() : 1);
  }
  object.append_part_to(out, done, object.text.size());
  return runtime.make_string(std::move(out));
}

Value stripped_tags(Runtime& runtime, const Value& string) {
  if (!runtime.scan(string.text().size() * 4)) return {};
  const Value no_comments = without(runtime, string.with_markup(false), "<!--", "-->");
  if (runtime.failed()) return {};
  const Value no_tags = without(runtime, no_comments, "<", ">");
  if (runtime.failed()) return {};
  const Value words = split(runtime, no_tags, Value::none(), -1, Side::kLeft);
  if (runtime.failed()) return {};
  const Value spaced = joined(runtime, Value::string(" ", string.source()), words);
  return runtime.failed() ? Value() : unescaped(runtime, spaced);
}

}  // namespace verbatim::chat::jinja
