#include "gateway/passed_headers.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace verbatim::gateway {
namespace {

std::vector<std::string> passed(const net::Headers& client) {
  std::vector<std::string> lines;
  for (const auto field : headers_for_engine(client, "req_1"))
    lines.push_back(std::string(field.name) + ": " + std::string(field.value));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(PassedHeaders, are_the_trace_context_and_the_request_id) {
  net::Headers client;
  client.add("TraceParent", "00-ab-cd-01").add("tracestate", "a=1").add("Baggage", "k=v");
  client.add("tracestate", "b=2").add("X-Request-Id", "other");
  EXPECT_EQ(passed(client), (Lines{"traceparent: 00-ab-cd-01", "tracestate: a=1", "tracestate: b=2",
                                   "baggage: k=v", "x-request-id: req_1"}));
}

TEST(PassedHeaders, are_never_what_is_between_the_client_and_the_gateway) {
  net::Headers client;
  for (const char* name : {"Authorization", "Proxy-Authorization", "Cookie", "x-api-key",
                           "X-SMG-Routing-Key", "X-Thread-Id", "Content-Type", "traceparent-x"})
    client.add(name, "secret");
  EXPECT_EQ(passed(client), Lines{"x-request-id: req_1"});
}

TEST(PassedHeaders, leave_out_what_is_too_long_or_means_nothing) {
  net::Headers client;
  client.add("baggage", std::string(5000, 'a')).add("baggage", std::string(5000, 'b'));
  client.add("traceparent", "1").add("traceparent", "2").add("tracestate", "a=1");
  EXPECT_EQ(passed(client), Lines{"x-request-id: req_1"});
  net::Headers broken;
  broken.add("baggage", "a\x01b");
  EXPECT_TRUE(headers_for_engine(broken, "a\nb").empty());
}

}  // namespace
}  // namespace verbatim::gateway
