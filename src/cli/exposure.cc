#include "cli/exposure.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "net/http_types.h"

namespace verbatim::cli {

using base::invalid;
using base::Status;

namespace {

constexpr std::size_t kMaxFile = std::size_t{8} << 20;

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

}  // namespace

base::Result<gateway::ApiKeys> read_keys(base::Files& files, const std::string& path) {
  if (path.empty()) return gateway::ApiKeys();
  const auto text = files.read(path, kMaxFile);
  if (!text.ok()) return invalid("--api-keys", "--api-keys: " + text.error().message);
  auto keys = gateway::ApiKeys::read(*text);
  if (keys.ok()) return keys;
  const auto& wrong = keys.error();
  return invalid("--api-keys", "--api-keys: " + path + (wrong.field.empty() ? "" : ", ") +
                                   wrong.field + ": " + wrong.message);
}

Status check_exposure(const Exposure& exposure) {
  if (exposure.has_keys || exposure.no_auth || is_loopback(exposure.host)) return {};
  return invalid("--host", "--host " + exposure.host +
                               ": whoever reaches this address could use the engine and read all "
                               "sessions: give --api-keys FILE with lines OWNER KEY, or --no-auth "
                               "if the network keeps others out");
}

Status check_session_header(const std::string& name) {
  static constexpr std::array<std::string_view, 8> kTaken{
      "authorization", "x-api-key",    "content-type",    "content-length",
      "host",          "x-request-id", "idempotency-key", "x-stainless-retry-count"};
  if (name.empty()) return {};
  const bool taken = std::any_of(kTaken.begin(), kTaken.end(), [&](std::string_view each) {
    return net::equals_ignoring_case(each, name);
  });
  if (net::is_token(name) && !taken) return {};
  return invalid("--session-header", "--session-header " + name +
                                         ": expected the name of a header field that means "
                                         "nothing else, as X-My-Session");
}

}  // namespace verbatim::cli
