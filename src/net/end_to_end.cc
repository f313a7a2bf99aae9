#include "net/end_to_end.h"

#include <algorithm>
#include <array>

namespace verbatim::net {
namespace {

bool stays_behind(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kNames = {"connection",
                                                              "keep-alive",
                                                              "proxy-authenticate",
                                                              "proxy-authorization",
                                                              "proxy-connection",
                                                              "te",
                                                              "trailer",
                                                              "transfer-encoding",
                                                              "upgrade",
                                                              "content-length"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return equals_ignoring_case(name, known); });
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

EndToEnd::EndToEnd(const Headers& headers) {
  for (const auto field : headers) {
    if (!equals_ignoring_case(field.name, "connection")) continue;
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const auto comma = std::min(rest.find(','), rest.size());
      const auto option = trim(rest.substr(0, comma));
      // What most messages say names no field that they have.
      const bool common =
          equals_ignoring_case(option, "keep-alive") || equals_ignoring_case(option, "close");
      if (!option.empty() && !common) named_.push_back(option);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
}

bool EndToEnd::has(std::string_view name) const {
  if (stays_behind(name)) return false;
  return std::none_of(named_.begin(), named_.end(),
                      [&](std::string_view known) { return equals_ignoring_case(name, known); });
}

}  // namespace verbatim::net
