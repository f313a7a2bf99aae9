#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace verbatim::json {

// Follows one JSON value that arrives byte by byte, for text that is still growing: says where its
// strings and containers begin and end, and at the first byte that no JSON text can have there
// (RFC 8259, as strict as Document::parse, but for UTF-8, which it takes for granted).
//
// Keeps one bit of state per open container and nothing else: what was fed belongs to the caller.
// Life: one per value; after kError or done() it is spent. Not thread-safe.
class StreamScanner {
 public:
  explicit StreamScanner(std::size_t max_depth = 512) : max_depth_(max_depth) {}

  // What the byte just fed did; depth() is then the depth behind it.
  enum class Mark : std::uint8_t {
    kNone,      // layout, punctuation, or the inside of something
    kBegin,     // first byte of a value
    kEnd,       // last byte of a string, array or object (numbers and words have no such byte)
    kBeginKey,  // opening quote of a member's name
    kEndKey,    // its closing quote
    kError,     // can't be JSON (or is nested too deep); nothing more may be fed
  };
  Mark feed(char c);

  // Open containers. A string at depth 1 is a key or value of the outermost container.
  [[nodiscard]] std::size_t depth() const { return stack_.size(); }
  // True between the quotes of a string: whatever comes next belongs to it.
  [[nodiscard]] bool in_string() const {
    return state_ == State::kString || state_ == State::kEscape || state_ == State::kHex;
  }
  // The value is whole. A number at the top is never done here: it could grow.
  [[nodiscard]] bool done() const { return state_ == State::kDone; }
  [[nodiscard]] bool failed() const { return state_ == State::kFailed; }

 private:
  enum class State : std::uint8_t {
    kValue,         // a value must come
    kFirstElement,  // a value or ]
    kFirstKey,      // a key or }
    kKey,           // a key must come
    kColon,
    kAfterValue,  // a comma or the end of the container
    kString,
    kEscape,
    kHex,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kWord,
    kDone,
    kFailed,
  };

  Mark fail();
  Mark open(char bracket);
  Mark close(char bracket);
  Mark begin_value(char c);
  Mark begin_word(std::string_view word);
  Mark begin_string(bool key);
  Mark end_string();
  Mark string_byte(char c);
  Mark number_byte(char c);
  Mark word_byte(char c);
  Mark after_value(char c);
  void value_ended() { state_ = stack_.empty() ? State::kDone : State::kAfterValue; }

  State state_ = State::kValue;
  bool key_ = false;       // the open string is a key
  std::uint8_t hex_ = 0;   // digits of \uXXXX still to come
  std::string_view word_;  // what is left of true, false, null
  std::string stack_;      // '{' or '[' per open container
  std::size_t max_depth_;
};

}  // namespace verbatim::json
