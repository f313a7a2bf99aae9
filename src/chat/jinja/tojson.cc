#include <algorithm>
#include <cmath>

#include "chat/jinja/numbers.h"
#include "chat/jinja/operations.h"
#include "chat/jinja/print.h"
#include "json/dumps.h"

namespace verbatim::chat::jinja {
namespace {

// Writes into the builder's bytes and claims them for a source when the source changes: values read
// from one JSON document, the common case, end up as one run without any bookkeeping per token.
class JsonPrinter {
 public:
  JsonPrinter(Runtime& runtime, TextBuilder& out, const JsonOptions& options)
      : runtime_(runtime), out_(out), bytes_(out.raw()), options_(options) {}

  void print(const Value& value) {
    switch_to(value.source());
    print_value(value, 0);
    out_.claim(source_);
  }

 private:
  void switch_to(SourceId source) {
    if (source == source_) return;
    out_.claim(source_);
    source_ = source;
  }

  bool within_limits() {
    if (!runtime_.step()) return false;
    if (bytes_.size() <= runtime_.options().max_output_bytes) return true;
    return runtime_.allocate(bytes_.size());
  }

  void print_value(const Value& value, int level) {
    if (!within_limits()) return;
    switch (value.kind()) {
      case Kind::kString:
        return print_string(value);
      case Kind::kNone:
        switch_to(value.source());
        bytes_ += "null";
        return;
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kBigInt:
      case Kind::kFloat:
        switch_to(value.source());
        bytes_ += scalar(value);
        return;
      case Kind::kList:
      case Kind::kTuple:
        return print_list(value, level);
      case Kind::kDict:
        return print_dict(value, level);
      default:
        runtime_.type_error("Object of type " + std::string(type_name(value)) +
                            " is not JSON serializable");
    }
  }

  static std::string scalar(const Value& value) {
    if (value.kind() == Kind::kBool) return value.boolean() ? "true" : "false";
    if (value.kind() == Kind::kFloat && !std::isfinite(value.floating())) {
      if (std::isnan(value.floating())) return "NaN";
      return value.floating() > 0 ? "Infinity" : "-Infinity";
    }
    return number_text(value);
  }

  void print_string(const Value& value) {
    const StringObject& object = value.string_object();
    runtime_.scan(object.text.size());
    if (object.runs.empty()) {
      switch_to(object.source);
      json::append_dumped_string(bytes_, object.text, options_.ensure_ascii);
      return;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < object.runs.size(); ++i) {
      const Run& run = object.runs[i];
      switch_to(run.source);
      const std::size_t before = bytes_.size();
      json::append_dumped_string(bytes_, object.text.substr(at, run.size), options_.ensure_ascii);
      if (i + 1 < object.runs.size()) bytes_.pop_back();
      if (i != 0) bytes_.erase(before, 1);
      at += run.size;
    }
  }

  void new_line(int level) {
    bytes_ += '\n';
    for (int i = 0; i < level; ++i) bytes_ += options_.indent;
  }

  // What stands before a child: a separator where one is due, a new line when indented.
  void lead(bool first, int level) {
    if (!first) bytes_ += options_.item_separator;
    if (options_.indented) new_line(level + 1);
  }

  void print_list(const Value& value, int level) {
    const SourceId source = value.source();
    switch_to(source);
    bytes_ += '[';
    bool first = true;
    for (const Value& item : value.items()) {
      switch_to(source);
      lead(first, level);
      first = false;
      print_value(item, level + 1);
      if (runtime_.failed()) return;
    }
    switch_to(source);
    if (options_.indented && !first) new_line(level);
    bytes_ += ']';
  }

  void print_dict(const Value& value, int level) {
    const SourceId source = value.source();
    switch_to(source);
    bytes_ += '{';
    bool first = true;
    std::vector<const DictEntry*> order;
    if (options_.sort_keys && !sorted(value.dict_object(), order)) return;
    std::size_t at = 0;
    for (const DictEntry& next : value.dict_object().entries) {
      const DictEntry& entry = options_.sort_keys ? *order[at++] : next;
      switch_to(source);
      lead(first, level);
      first = false;
      print_key(entry.key);
      switch_to(source);
      bytes_ += options_.key_separator;
      print_value(entry.value, level + 1);
      if (runtime_.failed()) return;
    }
    switch_to(source);
    if (options_.indented && !first) new_line(level);
    bytes_ += '}';
  }

  void print_key(const Value& key) {
    if (key.is_string()) return print_string(key);
    if (!key.is_number() && !key.is_none()) {
      runtime_.type_error("keys must be str, int, float, bool or None, not " +
                          std::string(type_name(key)));
      return;
    }
    switch_to(key.source());
    bytes_ += '"';
    bytes_ += key.is_none() ? "null" : scalar(key);
    bytes_ += '"';
  }

  bool sorted(const DictObject& dict, std::vector<const DictEntry*>& order) {
    std::vector<Value> positions;
    std::vector<Value> keys;
    for (const DictEntry& entry : dict.entries) {
      positions.push_back(Value::integer(static_cast<std::int64_t>(positions.size())));
      keys.push_back(entry.key);
    }
    sort_by_keys(runtime_, positions, keys, false);
    if (runtime_.failed()) return false;
    for (const Value& at : positions) {
      order.push_back(&dict.entries[static_cast<std::size_t>(at.integer())]);
    }
    return true;
  }

  Runtime& runtime_;
  TextBuilder& out_;
  std::string& bytes_;
  const JsonOptions& options_;
  SourceId source_ = kTemplate;
};

}  // namespace

void append_json(Runtime& runtime, TextBuilder& out, const Value& value,
                 const JsonOptions& options) {
  JsonPrinter(runtime, out, options).print(value);
}

}  // namespace verbatim::chat::jinja
