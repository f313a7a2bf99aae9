#include "gateway/passed_headers.h"

namespace verbatim::gateway {
namespace {

constexpr std::size_t kMaxBytes = 8192;  // W3C Baggage 3.3.2; the others stay far below

// A list may stand in several fields of its name, which keep their order.
void pass_on(const net::Headers& client, std::string_view name, net::Headers& to) {
  std::size_t bytes = 0;
  for (const auto field : client) {
    if (!net::equals_ignoring_case(field.name, name)) continue;
    if (!net::is_field_value(field.value)) return;
    bytes += field.value.size();
  }
  if (bytes == 0 || bytes > kMaxBytes) return;
  for (const auto field : client) {
    if (net::equals_ignoring_case(field.name, name)) to.add(name, field.value);
  }
}

}  // namespace

net::Headers headers_for_engine(const net::Headers& client, std::string_view request_id) {
  net::Headers up;
  // Two parents are none (W3C Trace Context 3.2.2), and a state belongs to its parent.
  if (client.count("traceparent") == 1) {
    pass_on(client, "traceparent", up);
    pass_on(client, "tracestate", up);
  }
  pass_on(client, "baggage", up);
  if (net::is_field_value(request_id)) up.add("x-request-id", request_id);
  return up;
}

}  // namespace verbatim::gateway
