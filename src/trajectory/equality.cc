#include "trajectory/equality.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>

#include "json/value.h"
#include "json/writer.h"

namespace verbatim::trajectory {
namespace {

// (sign, digits, exponent) with value = ±0.digits × 10^exponent; never expanded, so 1e999999999
// costs nothing. nullopt when the exponent leaves its bound: such numbers are compared as raw text.
std::optional<std::string> canonical_number(std::string_view raw) {
  const bool negative = raw.front() == '-';
  if (negative) raw.remove_prefix(1);
  const auto e = raw.find_first_of("eE");
  std::string_view mantissa = raw.substr(0, e);
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view digits = raw.substr(e + 1);
    if (digits.front() == '+') digits.remove_prefix(1);
    const auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    constexpr std::int64_t kBound = 1'000'000'000'000;
    if (code != std::errc() || exponent > kBound || exponent < -kBound) return std::nullopt;
  }
  const auto point = mantissa.find('.');
  std::string digits(mantissa.substr(0, point));
  exponent += static_cast<std::int64_t>(digits.size());
  if (point != std::string_view::npos) digits += mantissa.substr(point + 1);
  const auto first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "0";
  digits.erase(0, first);
  exponent -= static_cast<std::int64_t>(first);
  digits.erase(digits.find_last_not_of('0') + 1);
  return (negative ? "-" : "+") + digits + "e" + std::to_string(exponent);
}

// Appends the canonical text of `value`; false where it has none (duplicate keys, unbounded
// exponents).
bool append_canonical(std::string& out, const json::Value& value);

// The number, true or false that a text spells; nullopt: it spells none.
std::optional<std::string> canonical_scalar(std::string_view text) {
  if (text == "true" || text == "false") return std::string(text);
  const bool numeric = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
  if (!numeric) return std::nullopt;
  const auto document = json::Document::parse(std::string(text));
  if (!document || document->root().raw().size() != text.size()) return std::nullopt;
  return canonical_number(text);
}

// The value of an argument, as the agent's spelling has it.
bool append_argument(std::string& out, std::string_view name, const json::Value& value,
                     const Spelling& spelling) {
  if (!value.is_string()) return append_canonical(out, value);
  const std::string text = value.string();
  const std::string_view settled = without_prefixes(spelling, name, text);
  const auto scalar = spelling.scalars_in_strings ? canonical_scalar(settled) : std::nullopt;
  if (scalar) {
    out += *scalar;
  } else {
    json::append_string(out, settled);
  }
  return true;
}

// Members in order of their names; of a call's arguments where there is a spelling.
bool append_members(std::string& out, const json::Value& object, const Spelling* spelling) {
  std::vector<std::pair<std::string, std::string>> members;
  members.reserve(object.size());
  for (const auto member : object) {
    const std::string name = member.name();
    std::string child;
    const bool known = spelling != nullptr ? append_argument(child, name, member.value, *spelling)
                                           : append_canonical(child, member.value);
    if (!known) return false;
    members.emplace_back(name, std::move(child));
  }
  std::sort(members.begin(), members.end());
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i != 0 && members[i].first == members[i - 1].first) return false;
    json::append_string(out, members[i].first);
    out += ':';
    out += members[i].second;
    out += ',';
  }
  out += '}';
  return true;
}

bool append_canonical(std::string& out, const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull:
    case json::Kind::kBool:
      out += value.raw();
      return true;
    case json::Kind::kString:
      json::append_string(out, value.string());
      return true;
    case json::Kind::kNumber: {
      auto number = canonical_number(value.raw());
      if (number) out += *number;
      return number.has_value();
    }
    case json::Kind::kArray: {
      out += '[';
      for (const auto member : value) {
        if (!append_canonical(out, member.value)) return false;
        out += ',';
      }
      out += ']';
      return true;
    }
    case json::Kind::kObject:
      break;
  }
  return append_members(out, value, nullptr);
}

// The parts of a content as a text that is the same for the same values; "" where there are none.
std::string canonical_parts(const message::Message& message) {
  const auto raw = message::parts_of(message);
  if (raw.empty()) return {};
  const auto document = json::Document::parse(std::string(raw));
  std::string out;
  if (document && append_canonical(out, document->root())) return out;
  return "raw:" + std::string(raw);
}

bool has_volatile_lines(const message::Message& message, const Spelling* spelling) {
  const bool said_once =
      message.role == message::Role::kSystem || message.role == message::Role::kDeveloper;
  return said_once && spelling != nullptr && !spelling->volatile_lines.empty();
}

// Bytes of the whitespace character that `text` starts with (0: none). The union of what
// String.prototype.trim (ECMA-262 WhiteSpace and LineTerminator) and str.strip (str.isspace)
// remove.
std::size_t leading_space(std::string_view text) {
  const auto c = static_cast<unsigned char>(text[0]);
  if (c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f)) return 1;
  if (text.starts_with("\xc2\x85") || text.starts_with("\xc2\xa0")) return 2;
  if (text.size() < 3 || c < 0xe1) return 0;
  const auto cp =
      static_cast<char32_t>((c & 15) << 12 | (static_cast<unsigned char>(text[1]) & 63) << 6 |
                            (static_cast<unsigned char>(text[2]) & 63));
  const bool space =
      c < 0xf0 && (cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 ||
                   cp == 0x202f || cp == 0x205f || cp == 0x3000 || cp == 0xfeff);
  return space ? 3 : 0;
}

}  // namespace

std::string_view trim_whitespace(std::string_view text) {
  while (!text.empty()) {
    const std::size_t n = leading_space(text);
    if (n == 0) break;
    text.remove_prefix(n);
  }
  while (!text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) --start;
    if (leading_space(text.substr(start)) != text.size() - start) break;
    text = text.substr(0, start);
  }
  return text;
}

std::string canonical_arguments(std::string_view arguments, const Spelling* spelling) {
  const std::string_view trimmed = trim_whitespace(arguments);
  if (trimmed.empty() || trimmed == "null" || trimmed == "{}") return "{}";
  auto doc = json::Document::parse(std::string(trimmed));
  std::string out;
  if (spelling != nullptr && !spelling->rewrites_arguments()) spelling = nullptr;
  if (doc && (doc->root().is_object() ? append_members(out, doc->root(), spelling)
                                      : append_canonical(out, doc->root())))
    return out;
  return "raw:" + std::string(arguments);
}

Digest extend(DigestBuilder& builder, const Digest& previous, const message::Message& message,
              const Spelling* spelling) {
  builder.add(previous);
  builder.add('r', message::name(message.role));
  const bool assistant = message.role == message::Role::kAssistant;
  if (has_volatile_lines(message, spelling)) {
    builder.add('t', settled_text(*spelling, message.text));
  } else {
    builder.add('t', assistant ? trim_whitespace(message.text) : std::string_view(message.text));
  }
  if (const auto parts = canonical_parts(message); !parts.empty()) builder.add('p', parts);
  if (!message.name.empty()) builder.add('n', message.name);
  for (const auto& call : message.tool_calls)
    builder.add('c', call.name).add('a', canonical_arguments(call.arguments, spelling));
  return builder.finish();
}

std::vector<Digest> chain(DigestBuilder& builder, const Digest& root,
                          std::span<const message::Message> messages, const Spelling* spelling) {
  std::vector<Digest> digests;
  digests.reserve(messages.size());
  Digest last = root;
  for (const auto& message : messages) {
    last = extend(builder, last, message, spelling);
    digests.push_back(last);
  }
  return digests;
}

bool same_parts(const message::Message& stored, const message::Message& sent) {
  return message::parts_of(stored) == message::parts_of(sent) ||
         canonical_parts(stored) == canonical_parts(sent);
}

Match match_texts(const message::Message& stored, const message::Message& sent,
                  const Spelling* spelling) {
  if (stored.text == sent.text) return Match::kEqual;
  if (stored.role == message::Role::kAssistant) {
    return trim_whitespace(stored.text) == trim_whitespace(sent.text) ? Match::kEqual
                                                                      : Match::kDifferent;
  }
  if (!has_volatile_lines(stored, spelling)) return Match::kDifferent;
  return settled_text(*spelling, stored.text) == settled_text(*spelling, sent.text)
             ? Match::kSpelled
             : Match::kDifferent;
}

Match match_arguments(const message::ToolCall& stored, const message::ToolCall& sent,
                      const Spelling* spelling) {
  if (stored.arguments == sent.arguments ||
      canonical_arguments(stored.arguments) == canonical_arguments(sent.arguments))
    return Match::kEqual;
  if (spelling == nullptr || stored.id != sent.id) return Match::kDifferent;
  return canonical_arguments(stored.arguments, spelling) ==
                 canonical_arguments(sent.arguments, spelling)
             ? Match::kSpelled
             : Match::kDifferent;
}

ReasoningMatch match_reasoning(const message::Message& stored, const message::Message& sent) {
  const std::string_view ours =
      stored.reasoning ? trim_whitespace(*stored.reasoning) : std::string_view();
  const std::string_view theirs =
      sent.reasoning ? trim_whitespace(*sent.reasoning) : std::string_view();
  if (ours.empty() || theirs.empty()) return ReasoningMatch::kAbsent;
  return ours == theirs ? ReasoningMatch::kEqual : ReasoningMatch::kDifferent;
}

}  // namespace verbatim::trajectory
