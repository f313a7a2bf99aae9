#include "chat/jinja/lexer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "chat/jinja/string_literal.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_digit_char(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_char(char c) {
  return is_digit_char(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string with_plain_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
      continue;
    }
    out += '\n';
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

class Lexer {
 public:
  explicit Lexer(std::string source) : text_(std::move(source)) {}

  base::Result<std::vector<Token>> run() {
    while (at_ < text_.size() && !error_) root();
    if (error_) return std::move(*error_);
    push(TokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] bool starts(std::string_view what, std::size_t at) const {
    return std::string_view(text_).substr(at, what.size()) == what;
  }
  void push(TokenKind kind, std::string_view text) {
    tokens_.push_back({kind, line_, std::string(text)});
  }
  void fail(std::string message) {
    if (!error_) error_ = syntax_error(line_, std::move(message));
  }
  // Moves on and counts lines.
  void advance(std::size_t to) {
    line_ += static_cast<std::uint32_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   text_.begin() + static_cast<std::ptrdiff_t>(to),
                                                   '\n'));
    at_ = to;
  }
  [[nodiscard]] std::size_t skip_space(std::size_t at) const {
    while (at < text_.size()) {
      const CodePoint c = decode(text_, at);
      if (!is_space(c.value)) break;
      at += c.size;
    }
    return at;
  }

  // Position of the next "{{", "{%" or "{#".
  [[nodiscard]] std::size_t next_tag() const {
    for (std::size_t at = text_.find('{', at_); at != kNone; at = text_.find('{', at + 1)) {
      if (at + 1 < text_.size() && std::string_view("{%#").find(text_[at + 1]) != kNone) return at;
    }
    return kNone;
  }

  void root() {
    const std::size_t tag = next_tag();
    if (tag == kNone) {
      push(TokenKind::kData, std::string_view(text_).substr(at_));
      at_ = text_.size();
      return;
    }
    const char kind = text_[tag + 1];
    const char sign = tag + 2 < text_.size() ? text_[tag + 2] : '\0';
    const bool signed_tag = sign == '-' || sign == '+';
    data(tag, signed_tag ? sign : '\0', kind == '{');
    advance(tag);
    const std::size_t inside = tag + (signed_tag ? 3 : 2);
    if (kind == '#') {
      comment(inside);
    } else if (kind == '%' && raw_body(inside) != kNone) {
      raw(raw_body(inside));
    } else {
      push(kind == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, "");
      advance(inside);
      expression(kind == '{');
    }
  }

  // The text before a tag, without what the tag strips.
  void data(std::size_t end, char sign, bool variable) {
    std::string_view text = std::string_view(text_).substr(at_, end - at_);
    if (sign == '-') {
      while (!text.empty()) {
        const CodePoint c = decode_before(text, text.size());
        if (!is_space(c.value)) break;
        text.remove_suffix(c.size);
      }
    } else if (sign != '+' && !variable) {
      text = without_indent(text);
    }
    if (!text.empty()) push(TokenKind::kData, text);
  }

  // lstrip_blocks: blanks between the start of the line and the tag go.
  [[nodiscard]] std::string_view without_indent(std::string_view text) const {
    const std::size_t line = text.rfind('\n') + 1;
    if (line == 0 && !line_starting_) return text;
    for (std::size_t at = line; at < text.size();) {
      const CodePoint c = decode(text, at);
      if (!is_space(c.value)) return text;
      at += c.size;
    }
    return text.substr(0, line);
  }

  // Behind a closing tag at `at`: what it strips.
  void close(std::size_t at, char sign, bool variable) {
    if (sign == '-') {
      at = skip_space(at);
    } else if (sign != '+' && !variable && at < text_.size() && text_[at] == '\n') {
      ++at;
    }
    advance(at);
    line_starting_ = text_[at - 1] == '\n';
  }

  // The sign before a closing tag at `at`, if it lies behind `begin`.
  [[nodiscard]] char sign_before(std::size_t at, std::size_t begin) const {
    if (at <= begin) return '\0';
    const char c = text_[at - 1];
    return c == '-' || c == '+' ? c : '\0';
  }

  void comment(std::size_t inside) {
    const std::size_t end = text_.find("#}", inside);
    if (end == kNone) return fail("Missing end of comment tag");
    close(end + 2, sign_before(end, inside), false);
  }

  // Where the body of a raw block starts whose tag's inside starts at `at`; kNone when it is
  // another tag.
  [[nodiscard]] std::size_t raw_body(std::size_t at) const {
    at = skip_space(at);
    if (!starts("raw", at)) return kNone;
    at = skip_space(at + 3);
    if (starts("-%}", at)) return skip_space(at + 3);
    return starts("%}", at) ? at + 2 : kNone;
  }

  void raw(std::size_t body) {
    advance(body);
    line_starting_ = text_[body - 1] == '\n';
    for (std::size_t tag = text_.find("{%", body); tag != kNone; tag = text_.find("{%", tag + 1)) {
      std::size_t at = tag + 2;
      const char sign = at < text_.size() ? text_[at] : '\0';
      const bool signed_tag = sign == '-' || sign == '+';
      at = skip_space(signed_tag ? at + 1 : at);
      if (!starts("endraw", at)) continue;
      at = skip_space(at + 6);
      const char end_sign =
          at < text_.size() && (text_[at] == '-' || text_[at] == '+') ? text_[at] : '\0';
      if (end_sign != '\0') ++at;
      if (!starts("%}", at)) continue;
      data(tag, signed_tag ? sign : '\0', false);
      close(at + 2, end_sign, false);
      return;
    }
    fail("Missing end of raw directive");
  }

  // Tokens up to the closing tag.
  void expression(bool variable) {
    const std::string_view end = variable ? "}}" : "%}";
    while (!error_) {
      if (at_ >= text_.size()) return;  // the parser says what is missing
      if (brackets_.empty()) {
        const char c = text_[at_];
        const bool signed_end = (c == '-' || (c == '+' && !variable)) && starts(end, at_ + 1);
        if (signed_end || starts(end, at_)) {
          push(variable ? TokenKind::kVariableEnd : TokenKind::kBlockEnd, "");
          return close(at_ + (signed_end ? 3 : 2), signed_end ? c : '\0', variable);
        }
      }
      const std::size_t space = skip_space(at_);
      if (space != at_) {
        advance(space);
        continue;
      }
      token();
    }
  }

  void token() {
    const char c = text_[at_];
    if (is_digit_char(c)) return number();
    if (is_name_char(c)) {
      std::size_t end = at_;
      while (end < text_.size() && is_name_char(text_[end])) ++end;
      push(TokenKind::kName, std::string_view(text_).substr(at_, end - at_));
      at_ = end;
      return;
    }
    if (c == '"' || c == '\'') return string(c);
    op();
  }

  // Digits with single underscores between them, from `at`; the end.
  [[nodiscard]] std::size_t digits(std::size_t at) const {
    while (at < text_.size() && is_digit_char(text_[at])) {
      ++at;
      if (at + 1 < text_.size() && text_[at] == '_' && is_digit_char(text_[at + 1])) ++at;
    }
    return at;
  }

  // End of a float that starts here, or kNone.
  [[nodiscard]] std::size_t float_end() const {
    if (at_ > 0 && text_[at_ - 1] == '.') return kNone;
    std::size_t at = digits(at_);
    bool fraction = false;
    if (at + 1 < text_.size() && text_[at] == '.' && is_digit_char(text_[at + 1])) {
      at = digits(at + 1);
      fraction = true;
    }
    if (at < text_.size() && (text_[at] == 'e' || text_[at] == 'E')) {
      std::size_t exponent = at + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit_char(text_[exponent])) return digits(exponent);
    }
    return fraction ? at : kNone;
  }

  // End of an integer in the notation of Python.
  [[nodiscard]] std::size_t integer_end() const {
    const char marker = at_ + 1 < text_.size() ? static_cast<char>(text_[at_ + 1] | 0x20) : '\0';
    if (text_[at_] == '0' && (marker == 'x' || marker == 'o' || marker == 'b')) {
      const auto belongs = [marker](char c) {
        const char lower = static_cast<char>(c | 0x20);
        if (marker == 'x') return is_digit_char(c) || (lower >= 'a' && lower <= 'f');
        return c >= '0' && c <= (marker == 'o' ? '7' : '1');
      };
      std::size_t at = at_ + 2;
      while (at < text_.size()) {
        const std::size_t digit = text_[at] == '_' ? at + 1 : at;
        if (digit >= text_.size() || !belongs(text_[digit])) break;
        at = digit + 1;
      }
      if (at > at_ + 2) return at;
    }
    if (text_[at_] != '0') return digits(at_);
    std::size_t at = at_ + 1;
    while (at < text_.size()) {
      const std::size_t digit = text_[at] == '_' ? at + 1 : at;
      if (digit >= text_.size() || text_[digit] != '0') break;
      at = digit + 1;
    }
    return at;
  }

  void number() {
    const std::size_t float_stop = float_end();
    const std::size_t end = float_stop != kNone ? float_stop : integer_end();
    std::string digits_only = text_.substr(at_, end - at_);
    std::erase(digits_only, '_');
    push(float_stop != kNone ? TokenKind::kFloat : TokenKind::kInteger, digits_only);
    at_ = end;
  }

  void string(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size())
      return fail("unexpected char " + std::string(1, quote) + ": the string has no end");
    auto value = unescape_literal(std::string_view(text_).substr(at_ + 1, end - at_ - 1));
    if (!value) return fail(value.error().message);
    push(TokenKind::kString, *value);
    advance(end + 1);
  }

  void op() {
    constexpr std::string_view kLong[] = {"//", "**", "==", "!=", ">=", "<="};
    constexpr std::string_view kShort = "+-/*%~[](){}><=.:|,;";
    std::string_view found;
    for (const std::string_view candidate : kLong) {
      if (starts(candidate, at_)) found = candidate;
    }
    if (found.empty() && kShort.find(text_[at_]) != kNone)
      found = std::string_view(text_).substr(at_, 1);
    if (found.empty()) return fail("unexpected char " + text_.substr(at_, decode(text_, at_).size));
    if (!balance(found[0])) return;
    push(TokenKind::kOperator, found);
    at_ += found.size();
  }

  bool balance(char c) {
    if (c == '{' || c == '(' || c == '[') {
      brackets_ += c == '{' ? '}' : (c == '(' ? ')' : ']');
    } else if (c == '}' || c == ')' || c == ']') {
      if (brackets_.empty() || brackets_.back() != c) {
        fail("unexpected '" + std::string(1, c) + "'");
        return false;
      }
      brackets_.pop_back();
    }
    return true;
  }

  std::string text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  bool line_starting_ = true;
  std::string brackets_;  // closing brackets that are due
  std::vector<Token> tokens_;
  std::optional<base::Error> error_;
};

}  // namespace

base::Error syntax_error(std::uint32_t line, std::string message) {
  return base::error(base::ErrorKind::kInvalidRequest,
                     "template line " + std::to_string(line) + ": " + message);
}

base::Result<std::vector<Token>> tokenize(std::string_view source) {
  if (!base::valid_utf8(source)) return syntax_error(1, "the template is not UTF-8");
  return Lexer(with_plain_newlines(source)).run();
}

}  // namespace verbatim::chat::jinja
