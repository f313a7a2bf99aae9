#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verbatim::json {

enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };

// "null", "a boolean", "a number" ...: for error messages ("expected a string, found a number").
std::string_view describe(Kind kind);

struct ParseLimits {
  unsigned max_depth = 512;
  std::size_t max_bytes = std::size_t{64} << 20;
};

class Document;
struct Parsed;

// A view of one value of a Document; valid while the Document lives. Cheap to copy.
//
// Nothing is lost: raw() gives the bytes as they were written, so numbers keep their spelling
// (0.30, 1E5, 2^64), strings their escapes, objects their key order and duplicates. Where a name is
// looked up, the last of several equal keys counts (as in Python and JavaScript). Reading a value
// as another kind than it has is a bug of the caller: check kind() or use the Result-returning
// forms.
class Value {
 public:
  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_bool() const { return kind() == Kind::kBool; }
  [[nodiscard]] bool is_number() const { return kind() == Kind::kNumber; }
  [[nodiscard]] bool is_string() const { return kind() == Kind::kString; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind() == Kind::kObject; }

  // The bytes of this value in the source, without surrounding whitespace.
  [[nodiscard]] std::string_view raw() const;

  [[nodiscard]] bool boolean() const;
  // Unescaped UTF-8. A lone surrogate escape (\ud800), which clients that cut UTF-16 text send,
  // becomes U+FFFD.
  [[nodiscard]] std::string string() const;
  // The same without a copy where the string has no escapes; else unescapes into `scratch`.
  [[nodiscard]] std::string_view string(std::string& scratch) const;

  // The number as an integer: only when it is written as one or equals one (1.0, 1e2) and fits.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
  // The nearest double; nullopt when it overflows (1e400).
  [[nodiscard]] std::optional<double> number() const;
  // True when the number is written without fraction and exponent.
  [[nodiscard]] bool written_as_integer() const;

  [[nodiscard]] std::size_t size() const;  // elements or members
  [[nodiscard]] bool empty() const { return size() == 0; }
  // The last member with this (unescaped) name, or nullopt. A null member is found: check
  // is_null().
  [[nodiscard]] std::optional<Value> find(std::string_view name) const;
  // find(), but a null member is as good as none.
  [[nodiscard]] std::optional<Value> get(std::string_view name) const;

  struct Member;
  // Children in order of writing. For objects, `member name` via Member. Duplicates appear as often
  // as they are written.
  class Iterator;
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] Iterator end() const;

 private:
  friend class Document;
  Value(const Parsed* doc, std::uint32_t index) : doc_(doc), index_(index) {}
  const Parsed* doc_ = nullptr;
  std::uint32_t index_ = 0;
};

// A child: its value, and for members of objects its name.
struct Value::Member {
  Value value;
  [[nodiscard]] std::string name() const;           // unescaped; empty for array elements
  [[nodiscard]] std::string_view raw_name() const;  // with its quotes
  const Parsed* doc;
  std::uint32_t name_index;
};

class Value::Iterator {
 public:
  Member operator*() const;
  Iterator& operator++();
  bool operator==(const Iterator& o) const { return index_ == o.index_; }

 private:
  friend class Value;
  Iterator(const Parsed* doc, std::uint32_t index, bool object)
      : doc_(doc), index_(index), object_(object) {}
  const Parsed* doc_;
  std::uint32_t index_;
  bool object_;
};

// A parsed JSON text that owns its bytes. Immutable, movable (Values stay valid: the content is on
// the heap), thread-safe to read.
class Document {
 public:
  // Format: RFC 8259, strictly. Errors (kInvalidRequest) name line and column, counted from 1 in
  // bytes: malformed text, bad UTF-8, an unescaped control character, a byte order mark, trailing
  // text, depth over the limit. kTooLarge: the text has too many bytes.
  static base::Result<Document> parse(std::string text, const ParseLimits& limits = {});

  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  [[nodiscard]] Value root() const;
  [[nodiscard]] std::string_view text() const;

 private:
  explicit Document(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace verbatim::json
