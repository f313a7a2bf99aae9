#include <cstdio>
#include <ctime>

#include "chat/jinja/globals.h"

namespace verbatim::chat::jinja {
namespace {

constexpr std::int64_t kMsPerDay = 86'400'000;

// Civil date of a day counted from 1970-01-01 (proleptic Gregorian calendar).
void civil_date(std::int64_t days, std::tm& out) {
  const std::int64_t shifted = days + 719468;  // from 0000-03-01
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  const std::int64_t day_of_era = shifted - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;  // from March
  const std::int64_t year = year_of_era + era * 400 + (month >= 10 ? 1 : 0);
  out.tm_mday = static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1);
  out.tm_mon = static_cast<int>(month < 10 ? month + 2 : month - 10);
  out.tm_year = static_cast<int>(year - 1900);
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  constexpr int kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  out.tm_yday = kBefore[out.tm_mon] + out.tm_mday - 1 + (leap && out.tm_mon > 1 ? 1 : 0);
  out.tm_wday = static_cast<int>(((days + 4) % 7 + 7) % 7);
}

}  // namespace

std::string format_time(const Clock& clock, std::string_view format) {
  const std::int64_t local = clock.wall_ms + std::int64_t{clock.offset_minutes} * 60'000;
  std::int64_t days = local / kMsPerDay;
  std::int64_t ms = local % kMsPerDay;
  if (ms < 0) {
    ms += kMsPerDay;
    --days;
  }
  std::tm time{};
  civil_date(days, time);
  time.tm_hour = static_cast<int>(ms / 3'600'000);
  time.tm_min = static_cast<int>(ms / 60'000 % 60);
  time.tm_sec = static_cast<int>(ms / 1000 % 60);
  time.tm_isdst = -1;

  // Python fills in the microseconds and the (empty) time zone itself and leaves the rest to the C
  // library.
  std::string pattern;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (format[i] != '%' || (next != 'f' && next != 'z' && next != 'Z' && next != '%')) {
      pattern += format[i];
      continue;
    }
    ++i;
    if (next == '%') pattern += "%%";
    if (next != 'f') continue;
    char micros[8];
    std::snprintf(micros, sizeof micros, "%06d", static_cast<int>(ms % 1000) * 1000);
    pattern += micros;
  }
  if (pattern.empty()) return pattern;
  pattern += ' ';  // so that an empty result can be told from one that did not fit
  std::string out(pattern.size() * 16 + 64, '\0');
  out.resize(std::strftime(out.data(), out.size(), pattern.c_str(), &time));
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace verbatim::chat::jinja
