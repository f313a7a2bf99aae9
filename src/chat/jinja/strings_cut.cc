#include <algorithm>
#include <cstring>

#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// The set of characters strip() removes.
class CharacterSet {
 public:
  explicit CharacterSet(const Value& characters) : space_(characters.is_none()) {
    if (!space_) text_ = characters.text();
  }
  [[nodiscard]] bool contains(std::string_view text, std::size_t at, const CodePoint& c) const {
    if (space_) return is_space(c.value);
    for (std::size_t i = 0; i < text_.size();) {
      const CodePoint other = decode(text_, i);
      if (text_.substr(i, other.size) == text.substr(at, c.size)) return true;
      i += other.size;
    }
    return false;
  }

 private:
  bool space_;
  std::string_view text_;
};

std::size_t find_bytes(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return kNone;
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? kNone
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

using Pieces = std::vector<std::pair<std::size_t, std::size_t>>;

void split_at_space(std::string_view text, std::int64_t most, Pieces& out) {
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && is_space(decode(text, at).value)) at += decode(text, at).size;
  };
  for (skip(); at < text.size(); skip()) {
    if (most >= 0 && static_cast<std::int64_t>(out.size()) >= most) {
      out.emplace_back(at, text.size());
      return;
    }
    const std::size_t start = at;
    while (at < text.size() && !is_space(decode(text, at).value)) at += decode(text, at).size;
    out.emplace_back(start, at);
  }
}

void split_at_space_from_right(std::string_view text, std::int64_t most, Pieces& out) {
  std::size_t end = text.size();
  const auto skip = [&] {
    while (end > 0 && is_space(decode_before(text, end).value))
      end -= decode_before(text, end).size;
  };
  for (skip(); end > 0; skip()) {
    if (most >= 0 && static_cast<std::int64_t>(out.size()) >= most) {
      out.emplace_back(0, end);
      break;
    }
    const std::size_t stop = end;
    while (end > 0 && !is_space(decode_before(text, end).value))
      end -= decode_before(text, end).size;
    out.emplace_back(end, stop);
  }
  std::reverse(out.begin(), out.end());
}

void split_at(std::string_view text, std::string_view separator, std::int64_t most, Pieces& out) {
  std::size_t at = 0;
  while (most < 0 || static_cast<std::int64_t>(out.size()) < most) {
    const std::size_t found = find_bytes(text, separator, at);
    if (found == kNone) break;
    out.emplace_back(at, found);
    at = found + separator.size();
  }
  out.emplace_back(at, text.size());
}

void split_at_from_right(std::string_view text, std::string_view separator, std::int64_t most,
                         Pieces& out) {
  std::size_t end = text.size();
  while (most < 0 || static_cast<std::int64_t>(out.size()) < most) {
    const std::size_t found = text.substr(0, end).rfind(separator);
    if (found == kNone) break;
    out.emplace_back(found + separator.size(), end);
    end = found;
  }
  out.emplace_back(0, end);
  std::reverse(out.begin(), out.end());
}

}  // namespace

Value stripped(Runtime& runtime, const Value& string, Side side, const Value& characters) {
  if (!characters.is_none() && !characters.is_string()) {
    return runtime.type_error("strip arg must be None or str");
  }
  const std::string_view text = string.text();
  const CharacterSet set(characters);
  std::size_t from = 0;
  std::size_t to = text.size();
  if (side != Side::kRight) {
    while (from < to) {
      const CodePoint c = decode(text, from);
      if (!set.contains(text, from, c)) break;
      from += c.size;
    }
  }
  if (side != Side::kLeft) {
    while (to > from) {
      const CodePoint c = decode_before(text, to);
      if (!set.contains(text, to - c.size, c)) break;
      to -= c.size;
    }
  }
  const std::size_t set_size = characters.is_string() ? characters.text().size() : 1;
  runtime.step((text.size() - (to - from)) * set_size / 16);
  if (from == 0 && to == text.size()) return string;
  return substring(string, from, to);
}

Value split(Runtime& runtime, const Value& string, const Value& separator, std::int64_t most,
            Side from) {
  if (!separator.is_none() && !separator.is_string()) {
    return runtime.type_error("must be str or None, not " + std::string(type_name(separator)));
  }
  const std::string_view text = string.text();
  if (separator.is_string() && separator.text().empty())
    return runtime.value_error("empty separator");
  if (!runtime.scan(text.size())) return {};
  Pieces pieces;
  const bool right = from == Side::kRight;
  if (separator.is_none()) {
    (right ? split_at_space_from_right : split_at_space)(text, most, pieces);
  } else {
    runtime.step(right ? text.size() * separator.text().size() / 64 : 0);
    (right ? split_at_from_right : split_at)(text, separator.text(), most, pieces);
  }
  if (!runtime.step(pieces.size()) || !runtime.allocate(pieces.size() * sizeof(StringObject)))
    return {};
  std::vector<Value> parts;
  parts.reserve(pieces.size());
  for (const auto& [begin, end] : pieces) parts.push_back(substring(string, begin, end));
  return runtime.make_list(std::move(parts), string.source());
}

std::vector<Value> split_lines(Runtime& runtime, const Value& string, bool keep_ends) {
  const std::string_view text = string.text();
  std::vector<Value> lines;
  if (!runtime.scan(text.size() * 4)) return lines;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode(text, at);
    if (!is_line_break(c.value)) {
      at += c.size;
      continue;
    }
    std::size_t next = at + c.size;
    if (c.value == '\r' && next < text.size() && text[next] == '\n') ++next;
    lines.push_back(substring(string, start, keep_ends ? next : at));
    if (!runtime.allocate(sizeof(StringObject))) return lines;
    start = at = next;
  }
  if (start < text.size()) lines.push_back(substring(string, start, text.size()));
  return lines;
}

Value partitioned(Runtime& runtime, const Value& string, const Value& separator, Side from) {
  if (!expect_string(runtime, separator, "partition")) return {};
  const std::string_view text = string.text();
  if (separator.text().empty()) return runtime.value_error("empty separator");
  if (!runtime.scan(text.size())) return {};
  const std::size_t at =
      from == Side::kRight ? text.rfind(separator.text()) : find_bytes(text, separator.text(), 0);
  const Value nothing = substring(string, 0, 0);
  std::vector<Value> parts;
  if (at == kNone) {
    parts = from == Side::kRight ? std::vector<Value>{nothing, nothing, string}
                                 : std::vector<Value>{string, nothing, nothing};
  } else {
    const std::size_t end = at + separator.text().size();
    parts = {substring(string, 0, at), substring(string, at, end),
             substring(string, end, text.size())};
  }
  return runtime.make_list(std::move(parts), string.source(), true);
}

Value without_affix(const Value& string, std::string_view affix, Side side) {
  const std::string_view text = string.text();
  if (affix.empty() || affix.size() > text.size()) return string;
  if (side == Side::kLeft) {
    return text.substr(0, affix.size()) == affix ? substring(string, affix.size(), text.size())
                                                 : string;
  }
  return text.substr(text.size() - affix.size()) == affix
             ? substring(string, 0, text.size() - affix.size())
             : string;
}

}  // namespace verbatim::chat::jinja
