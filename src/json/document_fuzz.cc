// Any bytes are refused with a message, or are a document of which nothing is lost: raw bytes tile
// the text, numbers keep their spelling, what the writer and the dumper print reads back as the
// same. The parser is compared with two others: the scanner of growing text, and simdjson.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <simdjson.h>

#include "json/dumps.h"
#include "json/stream_scanner.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::json {
namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

Document parsed(std::string text) {
  auto doc = Document::parse(std::move(text));
  expect(doc.ok());
  return std::move(*doc);
}

bool blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// How deep containers are nested, by another rule than the parser's.
unsigned depth_of(const Value& value) {
  unsigned below = 0;
  for (const auto member : value) below = std::max(below, depth_of(member.value));
  return below + (value.is_array() || value.is_object() ? 1 : 0);
}

// Takes `raw` from the front of `rest`, behind layout and punctuation.
void take(std::string_view& rest, std::string_view raw, std::string_view punctuation) {
  while (rest.data() != raw.data()) {
    expect(!rest.empty());
    expect(blank(rest[0]) || punctuation.find(rest[0]) != std::string_view::npos);
    rest.remove_prefix(1);
  }
  rest.remove_prefix(raw.size());
}

// What lies between the children is layout and punctuation; what lies in them is theirs.
void check_tiles(const Value& value) {
  std::string_view rest = value.raw();
  std::size_t count = 0;
  for (const auto member : value) {
    if (value.is_object()) take(rest, member.raw_name(), count == 0 ? "{" : ",");
    take(rest, member.value.raw(), value.is_object() ? ":" : count == 0 ? "[" : ",");
    check_tiles(member.value);
    ++count;
  }
  expect(count == value.size());
}

void check_number(const Value& value) {
  const std::string raw(value.raw());
  const double read = std::strtod(raw.c_str(), nullptr);
  const auto number = value.number();
  expect(number.has_value() == std::isfinite(read));
  if (!number) return;
  expect(*number == read && std::signbit(*number) == std::signbit(read));
  if (const auto whole = value.integer()) expect(static_cast<double>(*whole) == *number);
  std::string written;
  append_double(written, *number);
  expect(parsed(written).root().number() == *number);
  expect(std::strtod(python_float_repr(*number).c_str(), nullptr) == *number);
}

void check_string(const Value& value) {
  const std::string text = value.string();
  expect(simdjson::validate_utf8(text.data(), text.size()));
  std::string list = "[";
  append_string(list, text);
  append_dumped_string(list += ',', text, true);
  append_dumped_string(list += ',', text, false);
  const auto doc = parsed(list + "]");
  for (const auto member : doc.root()) expect(member.value.string() == text);
}

void check_names(const Value& object) {
  for (const auto member : object) {
    const std::string name = member.name();
    std::string_view last;
    for (const auto other : object) {
      if (other.name() == name) last = other.value.raw();
    }
    const auto found = object.find(name);
    expect(found && found->raw().data() == last.data());
    expect(object.get(name).has_value() == !found->is_null());
  }
}

void check(const Value& value) {
  if (value.is_number()) check_number(value);
  if (value.is_string()) check_string(value);
  if (value.is_object() && value.size() < 100) check_names(value);
  for (const auto member : value) check(member.value);
}

void write(Writer& w, const Value& value) {
  if (value.is_object()) {
    w.begin_object();
    for (const auto member : value) write(w.key(member.name()), member.value);
    w.end_object();
  } else if (value.is_array()) {
    w.begin_array();
    for (const auto member : value) write(w, member.value);
    w.end_array();
  } else if (value.is_string()) {
    w.string(value.string());
  } else {
    w.raw(value.raw());
  }
}

void expect_same(const Value& a, const Value& b) {
  expect(a.kind() == b.kind() && a.size() == b.size());
  if (a.is_string()) {
    expect(a.string() == b.string());
  } else if (!a.is_array() && !a.is_object()) {
    expect(a.raw() == b.raw());
  }
  auto other = b.begin();
  for (const auto member : a) {
    expect(member.name() == (*other).name());
    expect_same(member.value, (*other).value);
    ++other;
  }
}

void check_writer(const Value& root) {
  Writer w;
  write(w, root);
  const auto again = parsed(w.text());
  expect_same(root, again.root());
  Writer twice;
  write(twice, again.root());
  expect(twice.text() == w.text());
}

// What json.dumps prints is not JSON where a number overflows; else it is printed the same again.
void check_dumps(const Value& root) {
  const std::string text = dumps(root);
  const auto again = Document::parse(text);
  expect(again.ok() || text.find("Infinity") != std::string::npos);
  if (again) expect(dumps(again->root()) == text);
  for (const char c : dumps(root, {.ensure_ascii = true, .indent = 1, .sort_keys = true}))
    expect(static_cast<unsigned char>(c) < 0x80);
}

void check_limits(const std::string& text, unsigned depth) {
  expect(Document::parse(text, {.max_depth = depth, .max_bytes = text.size()}).ok());
  if (depth > 0) {
    const auto deep = Document::parse(text, {.max_depth = depth - 1});
    expect(!deep && deep.error().kind == base::ErrorKind::kInvalidRequest);
  }
  const auto large = Document::parse(text, {.max_bytes = text.size() - 1});
  expect(!large && large.error().kind == base::ErrorKind::kTooLarge);
}

// Would the scanner take all of `text` for one value?
bool scanned(std::string_view text) {
  StreamScanner scanner;
  for (const char c : text) {
    if (scanner.done()) {
      if (!blank(c)) return false;
    } else if (scanner.feed(c) == StreamScanner::Mark::kError) {
      return false;
    }
  }
  return scanner.done();
}

// Numbers at the top are never done for the scanner: each text is put into a list.
void check_scanner(const std::string& text, bool valid) {
  if (!simdjson::validate_utf8(text.data(), text.size())) return;
  const std::string list = "[" + text + "]";
  const bool list_valid = Document::parse(list).ok();
  if (valid) expect(list_valid == Document::parse(text, {.max_depth = 511}).ok());
  expect(scanned(list) == list_valid);
}

// simdjson refuses more: numbers out of range, lone surrogates, deep nesting.
void check_simdjson(const std::string& text, bool valid) {
  static simdjson::dom::parser parser;
  const auto error = parser.parse(text).error();
  if (error == simdjson::SUCCESS) expect(valid || text.starts_with("\xef\xbb\xbf"));
  if (!valid || error == simdjson::SUCCESS) return;
  expect(error == simdjson::NUMBER_ERROR || error == simdjson::STRING_ERROR ||
         error == simdjson::DEPTH_ERROR);
}

}  // namespace
}  // namespace verbatim::json

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim::json;
  const std::string text(data, data + size);
  const auto doc = Document::parse(text);
  check_scanner(text, doc.ok());
  check_simdjson(text, doc.ok());
  if (!doc) {
    std::string quoted;
    append_string(quoted, doc.error().message);
    expect(!doc.error().message.empty() && Document::parse(quoted).ok());
    return 0;
  }
  expect(doc->text() == text);
  std::string_view rest = doc->text();
  take(rest, doc->root().raw(), "");
  for (const char c : rest) expect(blank(c));
  check_tiles(doc->root());
  check(doc->root());
  check_writer(doc->root());
  check_dumps(doc->root());
  check_limits(text, depth_of(doc->root()));
  return 0;
}
