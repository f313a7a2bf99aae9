#include "net/http_types.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

namespace verbatim::net {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

constexpr std::array<bool, 256> token_table() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (const char c :
       {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

// What stands behind a status in its line (RFC 9110 15; 499 and 529 are names in use, of nginx and
// Anthropic). Clients go by the number.
constexpr std::pair<int, std::string_view> kStatusTexts[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {499, "Client Closed Request"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
    {529, "Overloaded"},
};

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

bool is_token(std::string_view text) {
  static constexpr auto kTable = token_table();
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char c) { return kTable[static_cast<unsigned char>(c)]; });
}

bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u == '\t' || (u >= 0x20 && u != 0x7f);
  });
}

std::string http_date(std::int64_t unix_seconds) {
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::sys_seconds at{std::chrono::seconds(unix_seconds)};
  const auto midnight = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day day(midnight);
  const std::chrono::hh_mm_ss time(at - midnight);
  char text[64];
  const int n = std::snprintf(
      text, sizeof text, "%s, %02u %s %04d %02d:%02d:%02d GMT",
      kDays[std::chrono::weekday(midnight).c_encoding()], static_cast<unsigned>(day.day()),
      kMonths[static_cast<unsigned>(day.month()) - 1], static_cast<int>(day.year()),
      static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
      static_cast<int>(time.seconds().count()));
  return {text, static_cast<std::size_t>(n)};
}

Headers::Entry Headers::append(std::string_view name, std::string_view value) {
  Entry entry{};
  entry.name_at = static_cast<std::uint32_t>(text_.size());
  entry.name_size = static_cast<std::uint32_t>(name.size());
  text_ += name;
  entry.value_at = static_cast<std::uint32_t>(text_.size());
  entry.value_size = static_cast<std::uint32_t>(value.size());
  text_ += value;
  return entry;
}

Headers& Headers::add(std::string_view name, std::string_view value) {
  entries_.push_back(append(name, value));
  return *this;
}

Headers& Headers::set(std::string_view name, std::string_view value) {
  const std::string kept_name(name);
  const std::string kept_value(value);  // may point into our own text
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!equals_ignoring_case((*this)[i].name, kept_name)) continue;
    for (std::size_t j = entries_.size() - 1; j > i; --j) {
      if (equals_ignoring_case((*this)[j].name, kept_name)) {
        entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
    entries_[i] = append(kept_name, kept_value);
    return *this;
  }
  return add(kept_name, kept_value);
}

void Headers::remove(std::string_view name) {
  const std::string kept(name);
  std::erase_if(entries_, [&](const Entry& e) {
    return equals_ignoring_case(std::string_view(text_).substr(e.name_at, e.name_size), kept);
  });
}

std::string_view Headers::find(std::string_view name) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Field field = (*this)[i];
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return {};
}

std::size_t Headers::count(std::string_view name) const {
  std::size_t n = 0;
  for (const Field field : *this) n += equals_ignoring_case(field.name, name) ? 1 : 0;
  return n;
}

Headers::Field Headers::operator[](std::size_t i) const {
  const Entry& e = entries_[i];
  const std::string_view text(text_);
  return {text.substr(e.name_at, e.name_size), text.substr(e.value_at, e.value_size)};
}

void Headers::clear() {
  text_.clear();
  entries_.clear();
}

std::string_view status_text(int status) {
  const auto* const it = std::find_if(std::begin(kStatusTexts), std::end(kStatusTexts),
                                      [&](const auto& row) { return row.first == status; });
  return it == std::end(kStatusTexts) ? std::string_view() : it->second;
}

}  // namespace verbatim::net
