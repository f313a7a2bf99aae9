#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include <yaml.h>

#include "cassette/yaml_node.h"

namespace verbatim::cassette {
namespace {

constexpr unsigned kMaxDepth = 256;

std::size_t line_of(const yaml_mark_t& mark) {
  return mark.line + 1;
}

std::string text_of(const yaml_char_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};  // NOLINT: the library's bytes
}

// libyaml's parser and its current event.
class Events {
 public:
  explicit Events(std::string_view text) {
    made_ = yaml_parser_initialize(&parser_) != 0;
    if (!made_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library's bytes
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Events(const Events&) = delete;
  ~Events() {
    drop();
    if (made_) yaml_parser_delete(&parser_);
  }

  // The next event becomes the current one. False: the text is no YAML, see problem().
  bool next() {
    drop();
    has_ = made_ && yaml_parser_parse(&parser_, &event_) != 0;
    return has_;
  }
  [[nodiscard]] const yaml_event_t& current() const { return event_; }
  [[nodiscard]] Problem problem() const {
    if (!made_ || parser_.error == YAML_MEMORY_ERROR) return {0, "out of memory"};
    std::string what = parser_.problem == nullptr ? "not read" : parser_.problem;
    return {line_of(parser_.problem_mark), "no YAML: " + what};
  }

 private:
  void drop() {
    if (std::exchange(has_, false)) yaml_event_delete(&event_);
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool made_ = false;
  bool has_ = false;
};

class TreeReader {
 public:
  explicit TreeReader(std::string_view text) : events_(text) {}

  YamlText read() {
    YamlText out;
    if (document(out.root)) expect_end();
    out.problems = std::move(problems_);
    return out;
  }

 private:
  bool fail(std::size_t line, std::string message) {
    problems_.push_back({line, std::move(message)});
    return false;
  }
  bool next() {
    if (events_.next()) return true;
    problems_.push_back(events_.problem());
    return false;
  }
  [[nodiscard]] std::size_t line() const { return line_of(events_.current().start_mark); }

  bool document(YamlNode& root) {
    if (!next() || !next()) return false;  // the stream's start, the document's
    if (events_.current().type != YAML_DOCUMENT_START_EVENT) return fail(0, "the file is empty");
    return next() && node(root, 0) && next();  // the document's end
  }
  void expect_end() {
    if (next() && events_.current().type != YAML_STREAM_END_EVENT)
      fail(line(), "found a second document: one file is one cassette");
  }

  // Reads the node that the current event begins.
  bool node(YamlNode& out, unsigned depth) {
    const auto& event = events_.current();
    out.line = line();
    if (depth > kMaxDepth) return fail(out.line, "more than 256 levels");
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return scalar(out);
      case YAML_SEQUENCE_START_EVENT: {
        const auto& start = event.data.sequence_start;
        out.kind = YamlNode::Kind::kSequence;
        return unnamed(start.anchor, start.tag) && sequence(out, depth);
      }
      case YAML_MAPPING_START_EVENT: {
        const auto& start = event.data.mapping_start;
        out.kind = YamlNode::Kind::kMapping;
        return unnamed(start.anchor, start.tag) && mapping(out, depth);
      }
      default:
        return fail(out.line, "found an alias: write out what it stands for");
    }
  }

  bool unnamed(const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr) return fail(line(), "found an anchor (&): write out what it stands for");
    if (tag != nullptr) return fail(line(), "found a tag (!): cassettes have none");
    return true;
  }

  bool scalar(YamlNode& out) {
    const auto& found = events_.current().data.scalar;
    if (!unnamed(found.anchor, found.tag)) return false;
    out.kind = YamlNode::Kind::kScalar;
    out.text = text_of(found.value, found.length);
    out.plain = found.style == YAML_PLAIN_SCALAR_STYLE;
    return true;
  }

  bool sequence(YamlNode& out, unsigned depth) {
    for (;;) {
      if (!next()) return false;
      if (events_.current().type == YAML_SEQUENCE_END_EVENT) return true;
      if (!node(out.items.emplace_back(), depth + 1)) return false;
    }
  }

  bool mapping(YamlNode& out, unsigned depth) {
    std::unordered_set<std::string> seen;
    for (;;) {
      if (!next()) return false;
      if (events_.current().type == YAML_MAPPING_END_EVENT) return true;
      YamlNode key;
      if (!node(key, depth + 1)) return false;
      if (key.kind != YamlNode::Kind::kScalar)
        return fail(key.line, "a key must be a string, found " + std::string(describe(key)));
      if (!seen.insert(key.text).second)
        return fail(key.line, "key \"" + key.text + "\" stands there twice");
      out.keys.push_back(std::move(key.text));
      if (!next() || !node(out.items.emplace_back(), depth + 1)) return false;
    }
  }

  Events events_;
  std::vector<Problem> problems_;
};

}  // namespace

YamlText read_yaml(std::string_view text) {
  return TreeReader(text).read();
}

}  // namespace verbatim::cassette
