#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace verbatim::json {

// Reads the members of one object of a data file that ships with the build or that an operator
// wrote: strictly, so that a slip of the pen is found. The first thing that is wrong in the whole
// file is kept in `error`, which outlives the reader, as does the document; readers go on behind it
// with empty values.
class ObjectReader {
 public:
  // `file` says in messages what is read: "family file".
  ObjectReader(Value object, std::string_view file, std::optional<base::Error>& error)
      : ObjectReader(object, file, "", error) {}

  // Any other key is an error.
  void only(std::initializer_list<std::string_view> keys);

  std::optional<std::string> text(std::string_view key);
  std::string required(std::string_view key);  // a text that is not empty
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key);
  std::vector<std::string> strings(std::string_view key);
  std::vector<Value> elements(std::string_view key);
  std::optional<ObjectReader> object(std::string_view key);
  std::vector<ObjectReader> objects(std::string_view key);

  // One of `words`.
  template <class E>
  E word(std::string_view key, std::initializer_list<std::pair<std::string_view, E>> words) {
    const std::string text = required(key);
    for (const auto& [word, value] : words) {
      if (word == text) return value;
    }
    fail(key, "unknown word \"" + text + "\"");
    return words.begin()->second;
  }

  void expected(std::string_view key, std::string_view what, const Value& found);
  void fail(std::string_view key, std::string message);

 private:
  ObjectReader(Value object, std::string_view file, std::string path,
               std::optional<base::Error>& error)
      : object_(object), file_(file), path_(std::move(path)), error_(error) {}

  Value object_;
  std::string_view file_;
  std::string path_;
  std::optional<base::Error>& error_;
};

}  // namespace verbatim::json
