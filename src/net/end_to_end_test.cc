#include "net/end_to_end.h"

#include <string>

#include <gtest/gtest.h>

namespace verbatim::net {
namespace {

TEST(EndToEnd, fields_of_one_connection_and_the_framing_stay_behind) {
  const Headers none;
  for (const char* name :
       {"Connection", "keep-alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
        "TE", "Trailer", "Transfer-Encoding", "UPGRADE", "content-length"})
    EXPECT_FALSE(EndToEnd(none).has(name)) << name;
  for (const char* name : {"Content-Type", "X-Request-Id", "traceparent", "Retry-After",
                           "X-RateLimit-Remaining", "Keep-Alive-Hint", "Set-Cookie"})
    EXPECT_TRUE(EndToEnd(none).has(name)) << name;
}

TEST(EndToEnd, fields_that_a_connection_field_names_stay_behind) {
  struct Row {
    const char* connection;
    const char* name;
    bool goes_on;
  };
  for (const Row& row :
       {Row{"X-Hop", "x-hop", false}, Row{"close, X-Hop", "X-Hop", false},
        Row{" ,\tx-HOP\t, keep-alive", "X-Hop", false}, Row{"X-Hop", "X-Hops", true},
        Row{"", "X-Hop", true}, Row{"close", "X-Close", true}, Row{",,,", "X-Hop", true}}) {
    Headers headers;
    headers.add("Connection", row.connection).add(row.name, "1");
    EXPECT_EQ(EndToEnd(headers).has(row.name), row.goes_on) << row.connection;
  }
  Headers twice;
  twice.add("Connection", "a").add("connection", "b");
  EXPECT_FALSE(EndToEnd(twice).has("a"));
  EXPECT_FALSE(EndToEnd(twice).has("B"));
}

}  // namespace
}  // namespace verbatim::net
