#include "json/dumps.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "base/utf8.h"
#include "json/string_codec.h"

namespace verbatim::json {
namespace {

class Dumper {
 public:
  Dumper(std::string& out, const DumpOptions& options) : out_(out), options_(options) {}

  void value(const Value& v, int depth) {
    switch (v.kind()) {
      case Kind::kArray:
        return array(v, depth);
      case Kind::kObject:
        return object(v, depth);
      case Kind::kString:
        return append_dumped_string(out_, v.string(scratch_), options_.ensure_ascii);
      case Kind::kNumber:
        return number(v);
      case Kind::kNull:
      case Kind::kBool:
        out_ += v.raw();
    }
  }

 private:
  void number(const Value& v) {
    const std::string_view raw = v.raw();
    if (v.written_as_integer()) {
      out_ += raw == "-0" ? "0" : raw;
      return;
    }
    const auto real = v.number();
    if (!real) {
      out_ += raw.front() == '-' ? "-Infinity" : "Infinity";
      return;
    }
    out_ += python_float_repr(*real);
  }

  void separator(int depth) {
    if (options_.indent < 0) return;
    out_ += '\n';
    out_.append(static_cast<std::size_t>(options_.indent) * static_cast<std::size_t>(depth), ' ');
  }

  void array(const Value& v, int depth) {
    if (v.empty()) {
      out_ += "[]";
      return;
    }
    out_ += '[';
    bool first = true;
    for (const auto member : v) {
      if (!first) out_ += options_.item_separator;
      first = false;
      separator(depth + 1);
      value(member.value, depth + 1);
    }
    separator(depth);
    out_ += ']';
  }

  // Members as a Python dict holds them: of equal keys the last value at the place of the first.
  std::vector<std::pair<std::string, Value>> members(const Value& v) const {
    std::vector<std::pair<std::string, Value>> list;
    list.reserve(v.size());
    std::map<std::string, std::size_t> seen;
    for (const auto member : v) {
      auto name = member.name();
      const auto [it, fresh] = seen.emplace(name, list.size());
      if (fresh) {
        list.emplace_back(std::move(name), member.value);
      } else {
        list[it->second].second = member.value;
      }
    }
    // Byte order of UTF-8 is code point order.
    if (options_.sort_keys)
      std::stable_sort(list.begin(), list.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    return list;
  }

  void object(const Value& v, int depth) {
    if (v.empty()) {
      out_ += "{}";
      return;
    }
    out_ += '{';
    bool first = true;
    for (const auto& [name, child] : members(v)) {
      if (!first) out_ += options_.item_separator;
      first = false;
      separator(depth + 1);
      append_dumped_string(out_, name, options_.ensure_ascii);
      out_ += options_.key_separator;
      value(child, depth + 1);
    }
    separator(depth);
    out_ += '}';
  }

  std::string& out_;
  const DumpOptions& options_;
  std::string scratch_;
};

}  // namespace

void append_dumped_string(std::string& out, std::string_view text, bool ensure_ascii) {
  out += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size()) {
      const auto c = static_cast<unsigned char>(text[plain]);
      if (c < 0x20 || c == '"' || c == '\\' || (ensure_ascii && c >= 0x7f)) break;
      ++plain;
    }
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto c = static_cast<unsigned char>(text[0]);
    if (c < 0x80) {
      append_escape(out, c);
      text.remove_prefix(1);
      continue;
    }
    const auto [cp, size] = base::decode_at(text, 0);
    text.remove_prefix(size);
    if (cp < 0x10000) {
      append_unit_escape(out, static_cast<unsigned>(cp));
    } else {
      append_unit_escape(out, 0xd800 + static_cast<unsigned>((cp - 0x10000) >> 10));
      append_unit_escape(out, 0xdc00 + static_cast<unsigned>((cp - 0x10000) & 0x3ff));
    }
  }
  out += '"';
}

std::string python_float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  const auto shortest =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<std::size_t>(shortest.ptr - buffer));
  const auto e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(),
                  exponent);
  if (exponent < -4 || exponent >= 16)
    return std::string(text);  // both print at least two exponent digits
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  std::string out(buffer, fixed.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

void append_dumps(std::string& out, const Value& value, const DumpOptions& options) {
  Dumper(out, options).value(value, 0);
}

std::string dumps(const Value& value, const DumpOptions& options) {
  std::string out;
  append_dumps(out, value, options);
  return out;
}

}  // namespace verbatim::json
