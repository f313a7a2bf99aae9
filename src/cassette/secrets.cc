#include "cassette/secrets.h"

#include <algorithm>
#include <array>
#include <span>

namespace verbatim::cassette {
namespace {

constexpr std::array<std::string_view, 6> kOfRequests = {
    "accept", "anthropic-beta", "anthropic-version", "content-type", "openai-beta", "user-agent"};
constexpr std::array<std::string_view, 2> kOfResponses = {"content-type", "retry-after"};
constexpr std::array<std::string_view, 7> kSecret = {"key",       "token", "secret", "password",
                                                     "signature", "sig",   "code"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Pairs allowed(const net::Headers& headers, std::span<const std::string_view> names) {
  Pairs out;
  for (const auto field : headers) {
    std::string name = lower(field.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    // A mapping has each name once: several fields of one name are a list (RFC 9110 5.3).
    const auto at =
        std::find_if(out.begin(), out.end(), [&](const auto& pair) { return pair.first == name; });
    if (at == out.end()) {
      out.emplace_back(std::move(name), field.value);
    } else {
      at->second.append(", ").append(field.value);
    }
  }
  return out;
}

}  // namespace

Pairs request_headers(const net::Headers& headers) {
  return allowed(headers, kOfRequests);
}

Pairs response_headers(const net::Headers& headers) {
  return allowed(headers, kOfResponses);
}

bool is_secret(std::string_view parameter) {
  const std::string name = lower(parameter);
  return std::any_of(kSecret.begin(), kSecret.end(), [&](std::string_view word) {
    if (!name.ends_with(word)) return false;
    const auto before = name.size() - word.size();
    return before == 0 || word == "key" || name[before - 1] == '_' || name[before - 1] == '-' ||
           name[before - 1] == '.';
  });
}

}  // namespace verbatim::cassette
