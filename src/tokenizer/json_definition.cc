#include "tokenizer/json_definition.h"

#include <optional>
#include <utility>

#include <simdjson.h>

#include "tokenizer/byte_level.h"
#include "tokenizer/pre_tokenizer.h"

namespace verbatim::tokenizer {
namespace {

namespace od = simdjson::ondemand;
using base::Status;

Status wrong(std::string_view part, simdjson::error_code code) {
  return malformed(part, simdjson::error_message(code));
}

// Calls `field(key, value)` for each field of an object, until one fails. A key that stands there
// twice is an error: readers disagree on which one counts.
template <class Field>
Status for_each_field(od::value value, std::string_view part, Field field) {
  od::object object;
  if (const auto code = value.get_object().get(object)) return wrong(part, code);
  std::vector<std::string> seen;
  for (auto entry : object) {
    std::string_view key;
    od::value inner;
    if (const auto code = entry.unescaped_key().get(key)) return wrong(part, code);
    const std::string name(key);  // the parser's buffer moves on
    for (const auto& before : seen) {
      if (before == name) return malformed(part, "the key \"" + name + "\" is there twice");
    }
    if (seen.size() == 64) return malformed(part, "too many keys");
    seen.push_back(name);
    if (const auto code = entry.value().get(inner)) return wrong(part, code);
    if (auto status = field(std::string_view(name), inner); !status) return status;
  }
  return {};
}

template <class Element>
Status for_each_element(od::value value, const std::string& part, Element element) {
  od::array array;
  if (const auto code = value.get_array().get(array)) return wrong(part, code);
  std::size_t index = 0;
  for (auto entry : array) {
    od::value inner;
    const std::string name = part + "[" + std::to_string(index++) + "]";
    if (const auto code = entry.get(inner)) return wrong(name, code);
    if (auto status = element(name, inner); !status) return status;
  }
  return {};
}

template <class T>
Status read(od::value value, std::string_view part, T& out) {
  if (const auto code = value.get(out)) return wrong(part, code);
  return {};
}

Status read_text(od::value value, std::string_view part, std::string& out) {
  std::string_view text;
  if (const auto code = value.get_string().get(text)) return wrong(part, code);
  out = text;
  return {};
}

bool is_null(od::value value) {
  od::json_type type;
  return value.type().get(type) == simdjson::SUCCESS && type == od::json_type::null;
}

// A component {"type": ..., parameters}: the parameters that matter anywhere, wherever they stand.
struct Component {
  std::string type;
  std::optional<std::string> regex;
  bool literal_pattern = false;
  std::string behavior;
  bool invert = false;
  bool add_prefix_space = true;  // the default of the format
  bool use_regex = true;
  std::vector<Component> parts;
};

constexpr int kMaxNesting = 8;

Status read_component(od::value value, const std::string& part, int depth, Component& out);

Status read_parts(od::value value, const std::string& part, int depth, Component& out) {
  return for_each_element(value, part, [&](const std::string& name, od::value element) -> Status {
    if (out.parts.size() == 64) return malformed(part, "too many components");
    out.parts.emplace_back();
    return read_component(element, name, depth + 1, out.parts.back());
  });
}

Status read_pattern(od::value value, const std::string& part, Component& out) {
  return for_each_field(value, part, [&](std::string_view key, od::value inner) -> Status {
    if (key == "Regex") return read_text(inner, part + ".Regex", out.regex.emplace());
    out.literal_pattern = true;
    return {};
  });
}

Status read_component(od::value value, const std::string& part, int depth, Component& out) {
  if (depth > kMaxNesting) return malformed(part, "nested too deeply");
  return for_each_field(value, part, [&](std::string_view key, od::value inner) -> Status {
    const std::string name = part + "." + std::string(key);
    if (key == "type") return read_text(inner, name, out.type);
    if (key == "pattern") {
      od::json_type type;
      if (inner.type().get(type) == simdjson::SUCCESS && type == od::json_type::object)
        return read_pattern(inner, name, out);
      return {};
    }
    if (key == "behavior") return read_text(inner, name, out.behavior);
    if (key == "invert") return read(inner, name, out.invert);
    if (key == "add_prefix_space") return read(inner, name, out.add_prefix_space);
    if (key == "use_regex") return read(inner, name, out.use_regex);
    const bool parts = key.ends_with("tokenizers") || key == "normalizers" || key == "decoders";
    if (parts) return read_parts(inner, name, depth, out);
    return {};
  });
}

// The leaves of nested sequences, in order.
void flatten(const Component& component, std::vector<const Component*>& out) {
  if (component.type != "Sequence") return out.push_back(&component);
  for (const auto& part : component.parts) flatten(part, out);
}

class Reader {
 public:
  explicit Reader(std::size_t json_size) { definition_.arena.reserve(json_size / 4); }

  Status top_field(std::string_view key, od::value value);
  base::Result<Definition> finish() &&;

 private:
  Status normalizer(od::value value);
  Status pre_tokenizer(od::value value);
  Status decoder(od::value value);
  Status split(const Component& component);
  Status byte_level(const Component& component);
  Status added_tokens(od::value value);
  Status added_token(const std::string& part, od::value value);
  Status model(od::value value);
  Status model_field(std::string_view key, const std::string& part, od::value value);
  Status vocab(od::value value);
  Status vocab_entry(std::string_view written, TokenId id);
  Status merges(od::value value);
  Status merge(od::value value, std::string& buffer);
  Status add_merge(std::string_view left, std::string_view right);

  Definition definition_;
  std::optional<Pattern> pattern_;
  bool has_vocab_ = false;
  bool has_merges_ = false;
  bool has_decoder_ = false;
  bool byte_level_ = false;
};

Status Reader::normalizer(od::value value) {
  if (is_null(value)) return {};
  Component root;
  if (auto status = read_component(value, "normalizer", 0, root); !status) return status;
  std::vector<const Component*> leaves;
  flatten(root, leaves);
  for (const Component* leaf : leaves) {
    if (leaf->type != "NFC") return unsupported("normalizer.type " + leaf->type);
    definition_.nfc = true;
  }
  return {};
}

Status Reader::split(const Component& component) {
  if (component.literal_pattern || !component.regex)
    return unsupported("pre_tokenizer Split without a Regex");
  if (pattern_) return unsupported("pre_tokenizer with several Splits");
  // The patterns known here match every character, so nothing is left between the matches.
  const bool isolated = component.behavior == "Isolated" && !component.invert;
  const bool removed = component.behavior == "Removed" && component.invert;
  if (!isolated && !removed)
    return unsupported("pre_tokenizer Split.behavior " + component.behavior);
  pattern_ = pattern_named(*component.regex);
  if (!pattern_) return unsupported("pre_tokenizer Split.pattern " + *component.regex);
  return {};
}

Status Reader::byte_level(const Component& component) {
  if (component.add_prefix_space) return unsupported("pre_tokenizer ByteLevel.add_prefix_space");
  byte_level_ = true;
  if (!component.use_regex) return {};
  if (pattern_) return unsupported("pre_tokenizer ByteLevel.use_regex behind a Split");
  pattern_ = Pattern::kGpt2;
  return {};
}

Status Reader::pre_tokenizer(od::value value) {
  if (is_null(value)) return unsupported("pre_tokenizer null");
  Component root;
  if (auto status = read_component(value, "pre_tokenizer", 0, root); !status) return status;
  std::vector<const Component*> leaves;
  flatten(root, leaves);
  for (const Component* leaf : leaves) {
    if (byte_level_) return unsupported("pre_tokenizer component behind ByteLevel");
    if (leaf->type != "Split" && leaf->type != "ByteLevel")
      return unsupported("pre_tokenizer.type " + leaf->type);
    if (auto status = leaf->type == "Split" ? split(*leaf) : byte_level(*leaf); !status)
      return status;
  }
  if (!byte_level_) return unsupported("pre_tokenizer without ByteLevel");
  if (!pattern_) return unsupported("pre_tokenizer without a pattern");
  return {};
}

Status Reader::decoder(od::value value) {
  if (is_null(value)) return unsupported("decoder null");
  Component root;
  if (auto status = read_component(value, "decoder", 0, root); !status) return status;
  std::vector<const Component*> leaves;
  flatten(root, leaves);
  if (leaves.size() != 1 || leaves[0]->type != "ByteLevel") {
    return unsupported("decoder.type " + (leaves.empty() ? root.type : leaves[0]->type));
  }
  has_decoder_ = true;
  return {};
}

Status Reader::added_token(const std::string& part, od::value value) {
  AddedToken token;
  token.id = kMaxVocabSize;
  std::uint64_t id = kMaxVocabSize;
  auto status = for_each_field(value, part, [&](std::string_view key, od::value inner) -> Status {
    const std::string name = part + "." + std::string(key);
    if (key == "id") return read(inner, name, id);
    if (key == "content") return read_text(inner, name, token.content);
    if (key == "special") return read(inner, name, token.special);
    if (key == "normalized") return read(inner, name, token.normalized);
    if (key == "single_word") return read(inner, name, token.single_word);
    if (key == "lstrip") return read(inner, name, token.lstrip);
    if (key == "rstrip") return read(inner, name, token.rstrip);
    return {};
  });
  if (!status) return status;
  if (id >= kMaxVocabSize) return malformed(part + ".id", "missing or too large");
  if (token.content.empty()) return malformed(part + ".content", "missing or empty");
  token.id = static_cast<TokenId>(id);
  definition_.added.push_back(std::move(token));
  return {};
}

Status Reader::added_tokens(od::value value) {
  if (is_null(value)) return {};
  return for_each_element(value, "added_tokens", [&](const std::string& part, od::value element) {
    return added_token(part, element);
  });
}

Status Reader::vocab_entry(std::string_view written, TokenId id) {
  const auto begin = static_cast<std::uint32_t>(definition_.arena.size());
  const bool byte_level = append_bytes_of_written(written, definition_.arena);
  if (!byte_level) definition_.arena.append(written);
  const auto size = static_cast<std::uint32_t>(definition_.arena.size()) - begin;
  definition_.vocab.push_back({{begin, size}, id, byte_level});
  return {};
}

Status Reader::vocab(od::value value) {
  od::object object;
  if (const auto code = value.get_object().get(object)) return wrong("model.vocab", code);
  has_vocab_ = true;
  for (auto entry : object) {
    std::string_view written;
    std::uint64_t id = 0;
    if (const auto code = entry.unescaped_key().get(written)) return wrong("model.vocab", code);
    if (entry.value().get(id) != simdjson::SUCCESS)
      return malformed("model.vocab", "\"" + std::string(written) + "\" has no id");
    if (id >= kMaxVocabSize)
      return malformed("model.vocab", "the id " + std::to_string(id) + " is too large");
    if (auto status = vocab_entry(written, static_cast<TokenId>(id)); !status) return status;
  }
  return {};
}

Status Reader::add_merge(std::string_view left, std::string_view right) {
  if (definition_.merges.size() == kMaxMerges) return malformed("model.merges", "too many");
  const std::size_t begin = definition_.arena.size();
  if (!append_bytes_of_written(left, definition_.arena)) return {};
  const std::size_t middle = definition_.arena.size();
  if (!append_bytes_of_written(right, definition_.arena)) {
    definition_.arena.resize(begin);
    return {};
  }
  const auto u32 = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  definition_.merges.push_back(
      {{u32(begin), u32(middle - begin)}, {u32(middle), u32(definition_.arena.size() - middle)}});
  return {};
}

// ["a", "b"], or "a b" in older files.
Status Reader::merge(od::value value, std::string& buffer) {
  const auto bad = [&] {
    return malformed("model.merges", "number " + std::to_string(definition_.merges.size()) +
                                         " is no pair of texts");
  };
  std::string_view text;
  od::json_type type;
  if (value.type().get(type)) return bad();
  if (type == od::json_type::string) {
    if (value.get_string().get(text)) return bad();
    if (text.starts_with("#version")) return {};  // a line of merges.txt that some converters kept
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos)
      return bad();
    return add_merge(text.substr(0, space), text.substr(space + 1));
  }
  od::array pair;
  if (value.get_array().get(pair)) return bad();
  std::size_t sides = 0;
  buffer.clear();
  std::size_t middle = 0;
  for (auto side : pair) {
    if (sides++ == 2 || side.get_string().get(text)) return bad();
    middle = sides == 1 ? text.size() : middle;
    buffer.append(text);
  }
  if (sides != 2) return bad();
  return add_merge(std::string_view(buffer).substr(0, middle),
                   std::string_view(buffer).substr(middle));
}

Status Reader::merges(od::value value) {
  od::array array;
  if (const auto code = value.get_array().get(array)) return wrong("model.merges", code);
  has_merges_ = true;
  std::string buffer;
  for (auto element : array) {
    od::value inner;
    if (const auto code = element.get(inner)) return wrong("model.merges", code);
    if (auto status = merge(inner, buffer); !status) return status;
  }
  return {};
}

Status Reader::model_field(std::string_view key, const std::string& part, od::value value) {
  if (key == "vocab") return vocab(value);
  if (key == "merges") return merges(value);
  if (is_null(value)) return {};
  if (key == "type") {
    std::string type;
    if (auto status = read_text(value, part, type); !status) return status;
    return type == "BPE" ? Status() : unsupported("model.type " + type);
  }
  if (key == "ignore_merges") return read(value, part, definition_.ignore_merges);
  if (key == "dropout") {
    double dropout = 0;
    if (auto status = read(value, part, dropout); !status) return status;
    return dropout == 0 ? Status() : unsupported(part);
  }
  if (key == "continuing_subword_prefix" || key == "end_of_word_suffix") {
    std::string affix;
    if (auto status = read_text(value, part, affix); !status) return status;
    return affix.empty() ? Status() : unsupported(part);
  }
  return {};  // unk_token, fuse_unk, byte_fallback: every byte has a token, so nothing is unknown
}

Status Reader::model(od::value value) {
  return for_each_field(value, "model", [&](std::string_view key, od::value inner) {
    return model_field(key, "model." + std::string(key), inner);
  });
}

Status Reader::top_field(std::string_view key, od::value value) {
  if (key == "normalizer") return normalizer(value);
  if (key == "pre_tokenizer") return pre_tokenizer(value);
  if (key == "decoder") return decoder(value);
  if (key == "added_tokens") return added_tokens(value);
  if (key == "model") return model(value);
  if (key == "version") {
    std::string version;
    if (auto status = read_text(value, "version", version); !status) return status;
    return version == "1.0" ? Status() : unsupported("version " + version);
  }
  return {};
}

base::Result<Definition> Reader::finish() && {
  if (!has_vocab_ || definition_.vocab.empty()) return malformed("model.vocab", "missing or empty");
  if (!has_merges_) return malformed("model.merges", "missing");
  if (!pattern_) return unsupported("pre_tokenizer null");
  if (!has_decoder_) return unsupported("decoder null");
  definition_.pattern = *pattern_;
  return std::move(definition_);
}

}  // namespace

base::Result<Definition> parse_definition(std::string& json) {
  if (json.size() >= (1U << 31))
    return base::error(base::ErrorKind::kTooLarge, "tokenizer.json is larger than 2 GiB");
  static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);
  json.reserve(json.size() + kJsonPadding);
  od::parser parser;
  od::document document;
  const simdjson::padded_string_view view(json.data(), json.size(), json.capacity());
  od::value root;
  if (const auto code = parser.iterate(view).get(document)) return wrong("(root)", code).error();
  if (const auto code = document.get_value().get(root)) return wrong("(root)", code).error();
  Reader reader(json.size());
  auto status = for_each_field(root, "(root)", [&](std::string_view key, od::value value) {
    return reader.top_field(key, value);
  });
  if (!status) return std::move(status).error();
  const char* rest = nullptr;  // simdjson calls the end "out of bounds"
  if (document.current_location().get(rest) != simdjson::OUT_OF_BOUNDS)
    return malformed("(root)", "more text behind the object");
  return std::move(reader).finish();
}

}  // namespace verbatim::tokenizer
