#include "api/route_table.h"

#include <algorithm>

#include "gateway/turn_endpoint.h"
#include "protocol/openai_error.h"

namespace verbatim::api {

using base::error;
using base::ErrorKind;
using base::Task;

bool matches(std::string_view pattern, std::string_view path, Named& named) {
  for (;;) {
    const auto open = std::min(pattern.find('{'), pattern.size());
    if (!path.starts_with(pattern.substr(0, open))) return false;
    pattern.remove_prefix(open);
    path.remove_prefix(open);
    if (pattern.empty()) return path.empty();
    const auto close = pattern.find('}') + 1;
    const auto end = std::min(path.find('/'), path.size());
    if (end == 0) return false;
    (pattern.substr(0, close) == "{item}" ? named.item : named.id) = path.substr(0, end);
    pattern.remove_prefix(close);
    path.remove_prefix(end);
  }
}

bool allows(std::string_view route_method, std::string_view method) {
  return method == route_method || (method == "HEAD" && route_method == "GET");
}

Task<void> not_allowed(net::Responder& responder, const net::Request& request, std::string allow) {
  const auto failure = error(ErrorKind::kInvalidRequest,
                             "method " + std::string(request.method) + " is not allowed on " +
                                 std::string(request.path) + "; allowed: " + allow);
  net::Headers headers;
  headers.add("Content-Type", "application/json").add("Allow", allow);
  (void)co_await responder.send(405, headers, protocol::openai_error_body(failure));
}

Task<void> no_such_path(net::Responder& responder, const net::Request& request,
                        std::string_view remedy) {
  auto failure = error(ErrorKind::kNotFound,
                       "no such path: " + std::string(request.path.substr(0, 200)) + "; ");
  failure.message += remedy;
  co_await gateway::send_error(responder, failure);
}

}  // namespace verbatim::api
