#include "cli/demo_page.h"

#include <algorithm>
#include <cstdio>

#include "base/terminal.h"

namespace verbatim::cli {
namespace {

struct Style {
  const char* escape;
  const char* mark;
};

// By Ink.
constexpr Style kStyles[] = {
    {"", ""},
    {"\x1b[1m", ""},
    {"\x1b[2m", ""},
    {"\x1b[2m", "[template]"},
    {"\x1b[36m", "[tools]"},
    {"\x1b[32m", "[system]"},
    {"\x1b[32m", "[user]"},
    {"\x1b[33m", "[tool]"},
    {"\x1b[1;35m", "[sampled]"},
    {"\x1b[1;32m", ""},
    {"\x1b[1;31m", ""},
};
constexpr std::string_view kReset = "\x1b[0m";

const Style& style_of(Ink ink) {
  return kStyles[static_cast<std::size_t>(ink)];
}

bool continues(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

// Bytes of the first `columns` characters.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && (columns > 0 || continues(text[at]))) {
    if (!continues(text[at])) --columns;
    ++at;
  }
  return at;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

std::string Page::quoted(std::string_view text) {
  return '"' + base::for_terminal(text) + '"';
}

void Page::heading(std::string_view number, std::string_view title) {
  if (column_ != 0) end_line();
  indent_ = 0;
  print("\n");
  std::string rule;
  const std::size_t used = 3 + columns_of(number) + 2 + columns_of(title) + 1;
  for (std::size_t i = used; i < kWidth; ++i) rule += "─";
  put(Ink::kFaint, "── ");
  put(Ink::kBold, std::string(number) + "  " + std::string(title) + " ");
  put(Ink::kFaint, rule);
  end_line();
  print("\n");
}

void Page::begin_line() {
  if (column_ != 0 || indent_ == 0) return;
  print(std::string(indent_, ' '));
  column_ = indent_;
}

void Page::put(Ink ink, std::string_view text) {
  begin_line();
  const std::string_view escape = colour_ == Colour::kOn ? style_of(ink).escape : "";
  print(escape);
  print(text);
  if (!escape.empty()) print(kReset);
  column_ += columns_of(text);
}

void Page::end_line() {
  print("\n");
  column_ = 0;
}

void Page::words(Ink ink, std::string_view text) {
  while (!text.empty()) {
    if (text[0] == '\n') {
      end_line();
      text.remove_prefix(1);
      continue;
    }
    // A word with the blanks before it.
    std::size_t end = text.find_first_not_of(' ');
    end = std::min(text.find_first_of(" \n", std::min(end, text.size())), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    begin_line();
    if (columns_of(word) > room() && column_ > indent_) {
      end_line();
      word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    }
    put(ink, word);
  }
}

void Page::exact(Ink ink, std::string_view text) {
  while (!text.empty()) {
    if (text[0] == '\n') {
      put(ink, "⏎");
      end_line();
      text.remove_prefix(1);
      continue;
    }
    begin_line();
    if (room() <= 1) end_line();
    begin_line();
    const std::size_t line = std::min(text.find('\n'), text.size());
    const std::size_t fits = bytes_of(text.substr(0, line), room() - 1);
    put(ink, text.substr(0, fits));
    text.remove_prefix(fits);
  }
}

void Page::mark(Ink ink) {
  if (colour_ == Colour::kOn) return;
  const std::string_view mark = style_of(ink).mark;
  begin_line();
  if (columns_of(mark) + 1 > room()) end_line();
  put(Ink::kPlain, mark);
}

}  // namespace verbatim::cli
