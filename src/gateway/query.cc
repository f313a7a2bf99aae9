#include "gateway/query.h"

#include <algorithm>
#include <charconv>

#include "net/url.h"

namespace verbatim::gateway {

base::Result<std::map<std::string, std::string>> query_parameters(std::string_view text) {
  std::map<std::string, std::string> parameters;
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto parameter = text.substr(0, end);
    const auto equals = std::min(parameter.find('='), parameter.size());
    auto name = net::percent_decode(parameter.substr(0, equals));
    auto value = net::percent_decode(parameter.substr(std::min(equals + 1, parameter.size())));
    for (auto* part : {&name, &value}) {
      if (part->ok()) continue;
      auto failure = std::move(*part).error();
      failure.field = parameter.substr(0, std::min(equals, kMaxShown));
      return failure;
    }
    parameters.insert_or_assign(std::move(*name), std::move(*value));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parameters;
}

base::Status read_number(std::string_view text, const std::string& field, std::uint64_t min,
                         std::uint64_t max, std::uint64_t& into) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), into);
  if (failed == std::errc() && end == text.data() + text.size() && into >= min && into <= max)
    return {};
  return base::invalid(field, "expected an integer in [" + std::to_string(min) + ", " +
                                  std::to_string(max) + "], found \"" +
                                  std::string(text.substr(0, kMaxShown)) + "\"");
}

}  // namespace verbatim::gateway
