#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verbatim::cassette {

// One node of a YAML text, with the line it begins in: what errors name. A value; owns its
// children.
struct YamlNode {
  enum class Kind { kScalar, kSequence, kMapping };

  Kind kind = Kind::kScalar;
  std::size_t line = 0;           // counted from 1
  std::string text;               // of a scalar, unescaped
  bool plain = false;             // a scalar written without quotes: may be no string
  std::vector<std::string> keys;  // of a mapping, one for each of `items`, each another
  std::vector<YamlNode> items;    // of a sequence or a mapping

  // The member of a mapping; nullptr where there is none, or this is none.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;
};

// "a string", "a list", ...: for error messages.
std::string_view describe(const YamlNode& node);

// What is wrong, and where.
struct Problem {
  std::size_t line = 0;  // 0: the text as a whole
  std::string message;
  bool operator==(const Problem&) const = default;
};

// One YAML document (libyaml: YAML 1.1, as PyYAML and yq write it). Not read, each an error with
// its line: anchors and aliases, tags, several documents, keys that are no scalars or stand there
// twice, more than 256 levels. A text is UTF-8.
struct YamlText {
  YamlNode root;
  std::vector<Problem> problems;  // empty: `root` is whole
};
YamlText read_yaml(std::string_view text);

// The node as compact JSON, appended to `out`. A plain scalar is null, true, false or a number
// where JSON writes it so (numbers keep their spelling), else a string. Returns false and adds a
// problem for one of which YAML readers make a number that JSON can't write (.inf, 0x1f, 1_000): in
// quotes it is a string.
bool append_json(std::string& out, const YamlNode& node, std::vector<Problem>& problems);

// Whether a scalar without quotes would be read as something else than this text.
bool needs_quotes(std::string_view text);

}  // namespace verbatim::cassette
