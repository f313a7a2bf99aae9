#include "json/parse_tape.h"

#include <bit>
#include <cstring>
#include <string>

#include <simdjson.h>

namespace verbatim::json {
namespace {

using base::ErrorKind;
using base::Status;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

// Bytes of a string that need a look: the quote, the backslash, control characters. 8 bytes at a
// time.
std::size_t plain_length(const char* p, const char* end) {
  const char* start = p;
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  for (; end - p >= 8; p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    const std::uint64_t quote = word ^ (kOnes * '"');
    const std::uint64_t slash = word ^ (kOnes * '\\');
    const std::uint64_t hit = (((quote - kOnes) & ~quote) | ((slash - kOnes) & ~slash) |
                               ((word - kOnes * 0x20) & ~word)) &
                              kHigh;
    if (hit != 0)
      return static_cast<std::size_t>(p - start) +
             static_cast<std::size_t>(std::countr_zero(hit)) / 8;
  }
  for (; p < end; ++p) {
    if (*p == '"' || *p == '\\' || static_cast<unsigned char>(*p) < 0x20) break;
  }
  return static_cast<std::size_t>(p - start);
}

class Parser {
 public:
  Parser(std::string_view text, const ParseLimits& limits) : text_(text), limits_(limits) {}

  base::Result<Tape> run() {
    tape_.reserve(text_.size() / 12 + 4);
    if (auto status = document(); !status.ok()) return std::move(status).error();
    return std::move(tape_);
  }

 private:
  base::Error fail(const std::string& what, ErrorKind kind = ErrorKind::kInvalidRequest) const {
    return fail_at(at_, what, kind);
  }
  base::Error fail_at(std::size_t at, const std::string& what,
                      ErrorKind kind = ErrorKind::kInvalidRequest) const {
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < at && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        line_start = i + 1;
      }
    }
    return base::error(kind, "invalid JSON at line " + std::to_string(line) + ", column " +
                                 std::to_string(at - line_start + 1) + ": " + what);
  }
  std::string found() const {
    if (at_ >= text_.size()) return "the text ends here";
    const char c = text_[at_];
    if (c < 0x20 || c == 0x7f)
      return "found control character " + std::to_string(static_cast<unsigned char>(c));
    if (static_cast<unsigned char>(c) >= 0x80) return "found a character outside ASCII";
    return std::string("found '") + c + "'";
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Status document() {
    if (text_.size() > limits_.max_bytes || text_.size() >= UINT32_MAX) {
      return base::error(ErrorKind::kTooLarge, "JSON text of " + std::to_string(text_.size()) +
                                                   " bytes; the limit is " +
                                                   std::to_string(limits_.max_bytes));
    }
    if (text_.starts_with("\xef\xbb\xbf")) return fail("a byte order mark is not allowed");
    if (!simdjson::validate_utf8(text_.data(), text_.size()))
      return fail_at(first_bad_utf8(), "not UTF-8");
    skip_space();
    if (auto status = value(); !status.ok()) return status;
    while (!open_.empty()) {
      if (auto status = inside(); !status.ok()) return status;
    }
    skip_space();
    if (at_ != text_.size()) return fail("the text should end here, " + found());
    return {};
  }

  std::size_t first_bad_utf8() const {
    // The longest valid prefix, by halving: only ever run for an error message.
    std::size_t low = 0;
    std::size_t high = text_.size();
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      std::size_t cut = middle;
      while (cut > low && cut < text_.size() &&
             (static_cast<unsigned char>(text_[cut]) & 0xc0) == 0x80)
        --cut;
      if (cut > low && simdjson::validate_utf8(text_.data() + low, cut - low)) {
        low = cut;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  // One step inside the innermost open container: the next element or member, or its end.
  Status inside() {
    const std::uint32_t index = open_.back();
    const bool object = tape_[index].kind == Kind::kObject;
    const char close = object ? '}' : ']';
    skip_space();
    if (peek() == close) {
      if (tape_[index].count != 0 && after_comma_)
        return fail(std::string("expected a value behind the comma, found '") + close + "'");
      ++at_;
      tape_[index].end = static_cast<std::uint32_t>(at_);
      tape_[index].next = static_cast<std::uint32_t>(tape_.size());
      open_.pop_back();
      after_comma_ = false;
      return {};
    }
    if (tape_[index].count != 0 && !after_comma_) {
      if (peek() != ',') return fail(std::string("expected ',' or '") + close + "', " + found());
      ++at_;
      after_comma_ = true;
      return {};
    }
    after_comma_ = false;
    ++tape_[index].count;
    if (object) {
      if (auto status = member_name(); !status.ok()) return status;
    }
    return value();
  }

  Status member_name() {
    if (peek() != '"') return fail("expected a member name in double quotes, " + found());
    if (auto status = string(); !status.ok()) return status;
    skip_space();
    if (peek() != ':') return fail("expected ':', " + found());
    ++at_;
    skip_space();
    return {};
  }

  Status value() {
    switch (peek()) {
      case '{':
        return open(Kind::kObject);
      case '[':
        return open(Kind::kArray);
      case '"':
        return string();
      case 't':
        return word("true", Kind::kBool);
      case 'f':
        return word("false", Kind::kBool);
      case 'n':
        return word("null", Kind::kNull);
      default:
        return number();
    }
  }

  Status open(Kind kind) {
    if (open_.size() >= limits_.max_depth)
      return fail("nested deeper than " + std::to_string(limits_.max_depth));
    open_.push_back(static_cast<std::uint32_t>(tape_.size()));
    push(kind, at_, at_ + 1, false);
    ++at_;
    after_comma_ = false;
    return {};
  }

  void push(Kind kind, std::size_t begin, std::size_t end, bool escaped) {
    const auto index = static_cast<std::uint32_t>(tape_.size());
    tape_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), index + 1,
                     0, kind, escaped});
  }

  Status word(std::string_view text, Kind kind) {
    if (text_.substr(at_, text.size()) != text) return fail("expected a value, " + found());
    push(kind, at_, at_ + text.size(), false);
    at_ += text.size();
    return {};
  }

  Status string() {
    const std::size_t begin = at_++;
    bool escaped = false;
    for (;;) {
      at_ += plain_length(text_.data() + at_, text_.data() + text_.size());
      if (at_ >= text_.size()) return fail_at(begin, "this string has no end");
      if (text_[at_] == '"') break;
      if (text_[at_] != '\\') return fail("an unescaped control character in a string");
      escaped = true;
      if (auto status = escape(); !status.ok()) return status;
    }
    ++at_;
    push(Kind::kString, begin, at_, escaped);
    return {};
  }

  Status escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == 'u') {
      for (std::size_t i = 2; i < 6; ++i) {
        if (at_ + i >= text_.size() || !is_hex(text_[at_ + i]))
          return fail("\\u needs four hex digits");
      }
      at_ += 6;
      return {};
    }
    if (c == '\0' || std::strchr("\"\\/bfnrt", c) == nullptr)
      return fail("an unknown escape in a string");
    at_ += 2;
    return {};
  }

  Status digits() {
    if (!is_digit(peek())) return fail("expected a digit, " + found());
    while (is_digit(peek())) ++at_;
    return {};
  }

  Status number() {
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (!is_digit(peek()))
      return fail(at_ == begin ? "expected a value, " + found() : "expected a digit, " + found());
    if (peek() == '0') {
      ++at_;
      if (is_digit(peek())) return fail("a number can't start with 0");
    } else if (auto status = digits(); !status.ok()) {
      return status;
    }
    if (peek() == '.') {
      ++at_;
      if (auto status = digits(); !status.ok()) return status;
    }
    if ((peek() | 0x20) == 'e') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (auto status = digits(); !status.ok()) return status;
    }
    push(Kind::kNumber, begin, at_, false);
    return {};
  }

  std::string_view text_;
  const ParseLimits& limits_;
  std::size_t at_ = 0;
  std::vector<std::uint32_t> open_;
  bool after_comma_ = false;
  Tape tape_;
};

}  // namespace

base::Result<Tape> parse_tape(std::string_view text, const ParseLimits& limits) {
  return Parser(text, limits).run();
}

}  // namespace verbatim::json
