#include "chat/jinja/print.h"

#include "base/utf8.h"
#include "chat/jinja/macro.h"
#include "chat/jinja/numbers.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

void append_hex(std::string& out, char32_t c, int digits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) out += kHex[(c >> shift) & 15];
}

// One character as repr() shows it.
void append_quoted(std::string& out, char32_t c, char quote) {
  if (c == static_cast<char32_t>(quote) || c == '\\') {
    out += '\\';
    out += static_cast<char>(c);
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else if (is_printable(c)) {
    base::append_utf8(out, c);
  } else if (c < 0x100) {
    out += "\\x";
    append_hex(out, c, 2);
  } else if (c < 0x10000) {
    out += "\\u";
    append_hex(out, c, 4);
  } else {
    out += "\\U";
    append_hex(out, c, 8);
  }
}

void append_string_repr(TextBuilder& out, const Value& string) {
  const StringObject& object = string.string_object();
  const std::string_view text = object.text;
  // As Python: double quotes where the text has single ones and no double ones.
  const bool single = text.find('\'') != std::string_view::npos;
  const char quote = single && text.find('"') == std::string_view::npos ? '"' : '\'';
  // Quotes belong to the string, escapes to the character they stand for: claimed run by run.
  if (string.is_markup()) out.append("Markup(", object.source_at(0));
  out.append(1, quote, object.source_at(0));
  std::size_t run_end = object.runs.empty() ? text.size() : object.runs.front().size;
  std::size_t run = 0;
  SourceId source = object.runs.empty() ? object.source : object.runs.front().source;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode(text, at);
    append_quoted(out.raw(), c.value, quote);
    at += c.size;
    if (at >= run_end) {
      out.claim(source);
      if (++run < object.runs.size()) {
        run_end += object.runs[run].size;
        source = object.runs[run].source;
      }
    }
  }
  out.append(1, quote, source);
  if (string.is_markup()) out.append(")", source);
}

class Printer {
 public:
  Printer(Runtime& runtime, TextBuilder& out) : runtime_(runtime), out_(out) {}

  void repr(const Value& value) {
    const Runtime::Depth depth(runtime_);
    if (!runtime_.step()) return;
    if (out_.size() > runtime_.options().max_output_bytes) {
      runtime_.allocate(out_.size());
      return;
    }
    const SourceId source = value.source();
    switch (value.kind()) {
      case Kind::kString:
        runtime_.scan(value.text().size());
        return append_string_repr(out_, value);
      case Kind::kUndefined:
        return out_.append("Undefined", source);
      case Kind::kNone:
        return out_.append("None", source);
      case Kind::kBool:
        return out_.append(value.boolean() ? "True" : "False", source);
      case Kind::kInt:
      case Kind::kBigInt:
      case Kind::kFloat:
        return out_.append(number_text(value), source);
      case Kind::kList:
        return sequence(value.items(), "[", "]", source);
      case Kind::kTuple:
        return sequence(value.items(), "(", value.items().size() == 1 ? ",)" : ")", source);
      case Kind::kDict:
        return entries(value.dict_object().entries, source);
      default:
        return other(value);
    }
  }

 private:
  void sequence(const std::vector<Value>& items, std::string_view open, std::string_view close,
                SourceId source) {
    out_.append(open, source);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out_.append(", ", source);
      repr(items[i]);
      if (runtime_.failed()) return;
    }
    out_.append(close, source);
  }

  void entries(const std::vector<DictEntry>& all, SourceId source) {
    out_.append("{", source);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != 0) out_.append(", ", source);
      repr(all[i].key);
      out_.append(": ", source);
      repr(all[i].value);
      if (runtime_.failed()) return;
    }
    out_.append("}", source);
  }

  void view(const Value& value) {
    const auto& object = *static_cast<const DictViewObject*>(value.object());
    constexpr std::string_view kNames[] = {"dict_keys([", "dict_values([", "dict_items(["};
    const SourceId source = object.dict.source();
    out_.append(kNames[static_cast<int>(object.what)], source);
    bool first = true;
    for (const DictEntry& entry : object.dict.dict_object().entries) {
      if (!first) out_.append(", ", source);
      first = false;
      if (object.what == ViewOf::kItems) out_.append("(", source);
      if (object.what != ViewOf::kValues) repr(entry.key);
      if (object.what == ViewOf::kItems) out_.append(", ", source);
      if (object.what != ViewOf::kKeys) repr(entry.value);
      if (object.what == ViewOf::kItems) out_.append(")", source);
      if (runtime_.failed()) return;
    }
    out_.append("])", source);
  }

  void other(const Value& value) {
    switch (value.kind()) {
      case Kind::kRange: {
        const auto& range = *static_cast<const RangeObject*>(value.object());
        std::string text =
            "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
        if (range.step != 1) text += ", " + std::to_string(range.step);
        return out_.append(text + ")", value.source());
      }
      case Kind::kDictView:
        return view(value);
      case Kind::kNamespace:
        return name_space(*static_cast<const NamespaceObject*>(value.object()));
      case Kind::kMacro: {
        const auto& macro = *static_cast<const MacroObject*>(value.object());
        return out_.append("<Macro " + macro_label(macro) + ">", kTemplate);
      }
      default:
        runtime_.unsupported("printing a " + std::string(type_name(value)) +
                             " (its text is an address in Python)");
    }
  }

  void name_space(const NamespaceObject& object) {
    if (++nested_namespaces_ > 50) {
      runtime_.unsupported("printing a namespace that holds itself");
      return;
    }
    out_.append("<Namespace ", kTemplate);
    entries(object.attributes, kTemplate);
    out_.append(">", kTemplate);
    --nested_namespaces_;
  }

  Runtime& runtime_;
  TextBuilder& out_;
  int nested_namespaces_ = 0;
};

}  // namespace

void append_repr(Runtime& runtime, TextBuilder& out, const Value& value) {
  Printer(runtime, out).repr(value);
}

void append_str(Runtime& runtime, TextBuilder& out, const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
      return value.string_object().append_to(out);
    case Kind::kUndefined:
      return;
    default:
      return append_repr(runtime, out, value);
  }
}

Value to_soft_str(Runtime& runtime, const Value& value) {
  if (value.is_string()) return value;
  TextBuilder out;
  append_str(runtime, out, value);
  return runtime.make_string(std::move(out));
}

Value to_str(Runtime& runtime, const Value& value) {
  return value.is_markup() ? value.with_markup(false) : to_soft_str(runtime, value);
}

}  // namespace verbatim::chat::jinja
