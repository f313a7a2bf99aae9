#include "json/value.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "json/parse_tape.h"
#include "json/string_codec.h"

namespace verbatim::json {

struct Parsed {
  std::string text;
  Tape tape;
};

namespace {
constexpr std::string_view kDescriptions[] = {"null",     "a boolean", "a number",
                                              "a string", "an array",  "an object"};
}

std::string_view describe(Kind kind) {
  return kDescriptions[static_cast<std::size_t>(kind)];
}

Document::Document(std::unique_ptr<Parsed> parsed) : parsed_(std::move(parsed)) {}
Document::Document(Document&& other) noexcept = default;
Document& Document::operator=(Document&& other) noexcept = default;
Document::~Document() = default;

base::Result<Document> Document::parse(std::string text, const ParseLimits& limits) {
  auto parsed = std::make_unique<Parsed>();
  parsed->text = std::move(text);
  auto tape = parse_tape(parsed->text, limits);
  if (!tape) return std::move(tape).error();
  parsed->tape = std::move(*tape);
  return Document(std::move(parsed));
}

Value Document::root() const {
  return Value(parsed_.get(), 0);
}
std::string_view Document::text() const {
  return parsed_->text;
}

namespace {
std::string_view slice(const std::string& text, const TapeNode& node) {
  return std::string_view(text).substr(node.begin, node.end - node.begin);
}
std::string_view unquoted(std::string_view raw) {
  return raw.substr(1, raw.size() - 2);
}
}  // namespace

Kind Value::kind() const {
  return doc_->tape[index_].kind;
}

std::string_view Value::raw() const {
  return slice(doc_->text, doc_->tape[index_]);
}

bool Value::boolean() const {
  return raw() == "true";
}

std::string Value::string() const {
  std::string scratch;
  return std::string(string(scratch));
}

std::string_view Value::string(std::string& scratch) const {
  const std::string_view body = unquoted(raw());
  if (!doc_->tape[index_].escaped) return body;
  scratch.clear();
  append_unescaped(scratch, body);
  return scratch;
}

bool Value::written_as_integer() const {
  return raw().find_first_of(".eE") == std::string_view::npos;
}

std::optional<std::int64_t> Value::integer() const {
  const std::string_view text = raw();
  std::int64_t whole = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (code == std::errc() && end == text.data() + text.size()) return whole;
  if (written_as_integer()) return std::nullopt;
  const auto real = number();
  // Beyond 2^53 a double no longer names one integer.
  if (!real || *real != std::floor(*real) || std::fabs(*real) > 9007199254740992.0)
    return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<double> Value::number() const {
  const std::string_view text = raw();
  double value = 0;
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc()) return value;
  // from_chars tells overflow and underflow alike; a number that underflows is zero to us.
  value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return value;
}

std::size_t Value::size() const {
  return doc_->tape[index_].count;
}

std::optional<Value> Value::find(std::string_view name) const {
  if (!is_object()) return std::nullopt;
  std::optional<Value> found;
  std::string scratch;
  for (std::uint32_t i = index_ + 1, end = doc_->tape[index_].next; i < end;) {
    const TapeNode& key = doc_->tape[i];
    std::string_view spelled = unquoted(slice(doc_->text, key));
    if (key.escaped) {
      scratch.clear();
      append_unescaped(scratch, spelled);
      spelled = scratch;
    }
    if (spelled == name) found = Value(doc_, i + 1);
    i = doc_->tape[i + 1].next;
  }
  return found;
}

std::optional<Value> Value::get(std::string_view name) const {
  auto found = find(name);
  if (found && found->is_null()) return std::nullopt;
  return found;
}

Value::Iterator Value::begin() const {
  const bool container = is_array() || is_object();
  return Iterator(doc_, container ? index_ + 1 : doc_->tape[index_].next, is_object());
}

Value::Iterator Value::end() const {
  return Iterator(doc_, doc_->tape[index_].next, is_object());
}

Value::Member Value::Iterator::operator*() const {
  if (!object_) return Member{Value(doc_, index_), nullptr, 0};
  return Member{Value(doc_, index_ + 1), doc_, index_};
}

Value::Iterator& Value::Iterator::operator++() {
  index_ = doc_->tape[object_ ? index_ + 1 : index_].next;
  return *this;
}

std::string_view Value::Member::raw_name() const {
  return doc == nullptr ? std::string_view() : slice(doc->text, doc->tape[name_index]);
}

std::string Value::Member::name() const {
  if (doc == nullptr) return {};
  std::string out;
  append_unescaped(out, unquoted(raw_name()));
  return out;
}

}  // namespace verbatim::json
