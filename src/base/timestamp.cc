#include "base/timestamp.h"

#include <algorithm>
#include <chrono>

namespace verbatim::base {

std::string timestamp(std::int64_t wall_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds(wall_ms)};
  const auto day = floor<days>(at);
  const year_month_day date(day);
  const hh_mm_ss time(at - day);
  const auto digits = [](std::int64_t value, std::size_t width) {
    auto text = std::to_string(value);
    return std::string(width - std::min(width, text.size()), '0') + text;
  };
  return digits(static_cast<int>(date.year()), 4) + "-" +
         digits(static_cast<unsigned>(date.month()), 2) + "-" +
         digits(static_cast<unsigned>(date.day()), 2) + "T" + digits(time.hours().count(), 2) +
         ":" + digits(time.minutes().count(), 2) + ":" + digits(time.seconds().count(), 2) + "." +
         digits(time.subseconds().count(), 3) + "Z";
}

}  // namespace verbatim::base
