#include "json/stream_scanner.h"

namespace verbatim::json {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

StreamScanner::Mark StreamScanner::fail() {
  state_ = State::kFailed;
  return Mark::kError;
}

StreamScanner::Mark StreamScanner::open(char bracket) {
  if (stack_.size() >= max_depth_) return fail();
  stack_.push_back(bracket);
  state_ = bracket == '{' ? State::kFirstKey : State::kFirstElement;
  return Mark::kBegin;
}

StreamScanner::Mark StreamScanner::close(char bracket) {
  if (stack_.empty() || stack_.back() != (bracket == '}' ? '{' : '[')) return fail();
  stack_.pop_back();
  value_ended();
  return Mark::kEnd;
}

StreamScanner::Mark StreamScanner::begin_word(std::string_view word) {
  word_ = word.substr(1);
  state_ = State::kWord;
  return Mark::kBegin;
}

StreamScanner::Mark StreamScanner::begin_string(bool key) {
  key_ = key;
  state_ = State::kString;
  return key ? Mark::kBeginKey : Mark::kBegin;
}

StreamScanner::Mark StreamScanner::begin_value(char c) {
  switch (c) {
    case '{':
    case '[':
      return open(c);
    case '"':
      return begin_string(false);
    case 't':
      return begin_word("true");
    case 'f':
      return begin_word("false");
    case 'n':
      return begin_word("null");
    case '-':
      state_ = State::kMinus;
      return Mark::kBegin;
    case '0':
      state_ = State::kZero;
      return Mark::kBegin;
    default:
      if (!is_digit(c)) return fail();
      state_ = State::kInteger;
      return Mark::kBegin;
  }
}

StreamScanner::Mark StreamScanner::end_string() {
  if (key_) {
    state_ = State::kColon;
    return Mark::kEndKey;
  }
  value_ended();
  return Mark::kEnd;
}

StreamScanner::Mark StreamScanner::string_byte(char c) {
  if (state_ == State::kString) {
    if (c == '"') return end_string();
    if (c == '\\') state_ = State::kEscape;
    return static_cast<unsigned char>(c) < 0x20 ? fail() : Mark::kNone;
  }
  if (state_ == State::kEscape) {
    if (c == 'u') {
      hex_ = 4;
      state_ = State::kHex;
      return Mark::kNone;
    }
    if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) return fail();
    state_ = State::kString;
    return Mark::kNone;
  }
  if (!is_hex(c)) return fail();
  if (--hex_ == 0) state_ = State::kString;
  return Mark::kNone;
}

// A byte that can't grow the number ends it, where the number may end.
StreamScanner::Mark StreamScanner::number_byte(char c) {
  const State was = state_;
  const auto go = [&](State next) {
    state_ = next;
    return Mark::kNone;
  };
  switch (was) {
    case State::kMinus:
      if (c == '0') return go(State::kZero);
      return is_digit(c) ? go(State::kInteger) : fail();
    case State::kPoint:
      return is_digit(c) ? go(State::kFraction) : fail();
    case State::kExponent:
      if (c == '+' || c == '-') return go(State::kExponentSign);
      return is_digit(c) ? go(State::kExponentDigits) : fail();
    case State::kExponentSign:
      return is_digit(c) ? go(State::kExponentDigits) : fail();
    default:
      break;
  }
  if (is_digit(c)) return was == State::kZero ? fail() : Mark::kNone;
  const bool whole = was == State::kZero || was == State::kInteger;
  if (c == '.' && whole) return go(State::kPoint);
  if ((c == 'e' || c == 'E') && was != State::kExponentDigits) return go(State::kExponent);
  // Only the byte behind a number tells that it has ended, and that byte counts for itself, too.
  value_ended();
  return after_value(c);
}

StreamScanner::Mark StreamScanner::word_byte(char c) {
  if (word_.front() != c) return fail();
  word_.remove_prefix(1);
  if (word_.empty()) value_ended();
  return Mark::kNone;
}

StreamScanner::Mark StreamScanner::after_value(char c) {
  if (is_space(c)) return Mark::kNone;
  if (stack_.empty()) return fail();
  if (c != ',') return c == '}' || c == ']' ? close(c) : fail();
  state_ = stack_.back() == '{' ? State::kKey : State::kValue;
  return Mark::kNone;
}

StreamScanner::Mark StreamScanner::feed(char c) {
  if (in_string()) return string_byte(c);
  if (state_ == State::kWord) return word_byte(c);
  if (state_ >= State::kMinus && state_ <= State::kExponentDigits) return number_byte(c);
  if (state_ == State::kFailed) return Mark::kError;
  if (is_space(c)) return Mark::kNone;
  switch (state_) {
    case State::kFirstElement:
      return c == ']' ? close(c) : begin_value(c);
    case State::kValue:
      return begin_value(c);
    case State::kFirstKey:
      if (c == '}') return close(c);
      return c == '"' ? begin_string(true) : fail();
    case State::kKey:
      return c == '"' ? begin_string(true) : fail();
    case State::kColon:
      if (c != ':') return fail();
      state_ = State::kValue;
      return Mark::kNone;
    default:
      return after_value(c);
  }
}

}  // namespace verbatim::json
