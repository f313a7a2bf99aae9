#include "cassette/cassette.h"

#include "net/http_types.h"

namespace verbatim::cassette {

std::string_view header(const Pairs& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (net::equals_ignoring_case(key, name)) return value;
  }
  return {};
}

bool is_json(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  return type.find("/json") != std::string_view::npos ||
         type.find("+json") != std::string_view::npos;
}

bool looks_like_cassette(std::string_view text) {
  return text.starts_with("turns:") || text.find("\nturns:") != std::string_view::npos;
}

std::string name_of(const RecordedTurn& turn) {
  return turn.filename + " " + turn.request.method + " " + turn.request.path;
}

}  // namespace verbatim::cassette
