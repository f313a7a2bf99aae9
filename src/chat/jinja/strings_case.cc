#include <algorithm>

#include "base/utf8.h"
#include "chat/jinja/strings.h"
#include "chat/jinja/unicode.h"

namespace verbatim::chat::jinja {
namespace {

// Goes through the characters of a string and writes what `convert` gives for each, from the same
// source.
template <class Convert>
Value map_characters(Runtime& runtime, const Value& string, Convert convert) {
  const StringObject& object = string.string_object();
  if (!runtime.scan(object.text.size() * 4)) return {};
  TextBuilder out;
  out.reserve(object.text.size());
  std::size_t run = 0;
  std::size_t run_end = object.runs.empty() ? object.text.size() : object.runs.front().size;
  for (std::size_t at = 0; at < object.text.size();) {
    const CodePoint c = decode(object.text, at);
    const Cased cased = convert(c.value, at);
    for (unsigned i = 0; i < cased.count; ++i) base::append_utf8(out.raw(), cased.to[i]);
    at += c.size;
    if (at < run_end) continue;
    out.claim(object.runs.empty() ? object.source : object.runs[run].source);
    if (++run < object.runs.size()) run_end += object.runs[run].size;
  }
  return runtime.make_string(std::move(out)).with_markup(string.is_markup());
}

constexpr char32_t kCapitalSigma = 0x3a3;

Cased lower_at(std::string_view text, char32_t c, std::size_t at) {
  if (c == kCapitalSigma) return {{lower_sigma(text, at), 0, 0}, 1};
  return lower(c);
}

bool is_cased(char32_t c) {
  return is_lower(c) || is_upper(c) || is_title(c);
}

// What title() of the filter treats as the border between words: [-\s({\[<]
bool is_word_border(char32_t c) {
  return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
}

bool is_title_text(std::string_view text) {
  bool cased = false;
  bool after_cased = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode(text, at);
    at += c.size;
    if (is_upper(c.value) || is_title(c.value)) {
      if (after_cased) return false;
      after_cased = cased = true;
    } else if (is_lower(c.value)) {
      if (!after_cased) return false;
      cased = true;
    } else {
      after_cased = false;
    }
  }
  return cased;
}

template <class Test>
bool all_characters(std::string_view text, Test test) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode(text, at);
    if (!test(c.value)) return false;
    at += c.size;
  }
  return true;
}

// islower(), isupper(): cased characters are all of one case, and there is one.
bool only_case(std::string_view text, bool upper_wanted) {
  bool found = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode(text, at);
    at += c.size;
    const bool wrong = is_title(c.value) || (upper_wanted ? is_lower(c.value) : is_upper(c.value));
    if (wrong) return false;
    found = found || (upper_wanted ? is_upper(c.value) : is_lower(c.value));
  }
  return found;
}

}  // namespace

Value upper_case(Runtime& runtime, const Value& string) {
  return map_characters(runtime, string, [](char32_t c, std::size_t) { return upper(c); });
}

Value lower_case(Runtime& runtime, const Value& string) {
  const std::string_view text = string.text();
  return map_characters(runtime, string,
                        [text](char32_t c, std::size_t at) { return lower_at(text, c, at); });
}

Value capitalized(Runtime& runtime, const Value& string) {
  const std::string_view text = string.text();
  return map_characters(runtime, string, [text](char32_t c, std::size_t at) {
    return at == 0 ? title(c) : lower_at(text, c, at);
  });
}

Value title_case(Runtime& runtime, const Value& string) {
  const std::string_view text = string.text();
  bool after_cased = false;
  return map_characters(runtime, string, [text, &after_cased](char32_t c, std::size_t at) {
    const Cased cased = after_cased ? lower_at(text, c, at) : title(c);
    after_cased = is_cased(c);
    return cased;
  });
}

Value title_words(Runtime& runtime, const Value& string) {
  const std::string_view text = string.text();
  std::size_t rest = 0;  // behind the first character of the word, which is converted alone
  bool border = true;    // the character before was one
  return map_characters(runtime, string,
                        [text, &border, &rest](char32_t c, std::size_t at) {
                          const bool is_border = is_word_border(c);
                          const bool first = border != is_border || at == 0;
                          if (first) rest = at + decode(text, at).size;
                          border = is_border;
                          if (first) return upper(c);
                          return c == kCapitalSigma ? lower_at(text.substr(rest), c, at - rest)
                                                    : lower(c);
                        })
      .with_markup(false);
}

Value swapped_case(Runtime& runtime, const Value& string) {
  const std::string_view text = string.text();
  return map_characters(runtime, string, [text](char32_t c, std::size_t at) {
    if (is_upper(c)) return lower_at(text, c, at);
    if (is_lower(c)) return upper(c);
    return Cased{{c, 0, 0}, 1};
  });
}

bool has_property(const Value& string, Method method) {
  const std::string_view text = string.text();
  switch (method) {
    case Method::kIsascii:
      return is_ascii(text);
    case Method::kIsprintable:
      return all_characters(text, is_printable);
    case Method::kIslower:
      return only_case(text, false);
    case Method::kIsupper:
      return only_case(text, true);
    case Method::kIstitle:
      return is_title_text(text);
    default:
      break;
  }
  if (text.empty()) return false;
  switch (method) {
    case Method::kIsalnum:
      return all_characters(text, is_alnum);
    case Method::kIsalpha:
      return all_characters(text, is_alpha);
    case Method::kIsdecimal:
      return all_characters(text, is_decimal);
    case Method::kIsdigit:
      return all_characters(text, is_digit);
    case Method::kIsnumeric:
      return all_characters(text, is_numeric);
    case Method::kIsspace:
      return all_characters(text, is_space);
    default:
      return false;
  }
}

}  // namespace verbatim::chat::jinja
