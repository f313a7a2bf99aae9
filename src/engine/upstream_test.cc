#include "engine/upstream.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace verbatim::engine {
namespace {

bool refused(int status, std::string body) {
  return refused_unsampled({status, {}, std::move(body)});
}

TEST(Upstream, says_that_a_request_was_never_begun) {
  EXPECT_TRUE(refused(503, R"({"error":{"message":"The request queue is full."}})"));
  EXPECT_TRUE(refused(503, R"({"error":"The model is currently scaling. Please try later."})"));
  EXPECT_TRUE(refused(503, R"({"message":"All workers are busy, please retry later"})"));
  EXPECT_TRUE(refused(529, R"({"message":"Service temporarily overloaded"})"));
  EXPECT_TRUE(refused(429, R"({"error":{"message":"Rate limit reached"}})"));
  EXPECT_TRUE(refused(429, "Too Many Requests"));
}

TEST(Upstream, a_status_alone_does_not_say_so) {
  for (const int status : {429, 503, 529}) {
    EXPECT_FALSE(refused(status, "")) << status;
    EXPECT_FALSE(refused(status, "<html>Too many requests</html>")) << status;
    EXPECT_FALSE(refused(status, R"({"error":{"message":"running timeout reached"}})")) << status;
    // A worker may have died in the middle.
    EXPECT_FALSE(refused(status, R"({"message":"Service temporarily unavailable"})")) << status;
  }
  for (const int status : {400, 408, 500, 502, 504})
    EXPECT_FALSE(refused(status, "the request queue is full")) << status;
}

std::string names_that_pass(const net::Headers& headers) {
  std::string names;
  const auto error = upstream_error(429, headers, "");
  for (const auto& [name, value] : error.upstream->headers)
    names.append(names.empty() ? "" : " ").append(name);
  return names;
}

TEST(Upstream, what_a_client_can_use_of_an_error_passes) {
  net::Headers headers;
  const std::string all =
      "Retry-After retry-after-ms X-Request-Id request-id X-RateLimit-Remaining-Tokens "
      "anthropic-ratelimit-requests-reset RateLimit traceparent Content-Type x-should-retry";
  for (std::size_t at = 0; at < all.size();) {
    const auto end = std::min(all.find(' ', at), all.size());
    headers.add(all.substr(at, end - at), "1");
    at = end + 1;
  }
  EXPECT_EQ(names_that_pass(headers), all);
}

TEST(Upstream, what_is_between_this_side_and_the_engine_stays_there) {
  net::Headers headers;
  for (const char* name : {"Set-Cookie",
                           "Set-Cookie2",
                           "Location",
                           "Content-Location",
                           "Refresh",
                           "Connection",
                           "Keep-Alive",
                           "Proxy-Authenticate",
                           "WWW-Authenticate",
                           "Authentication-Info",
                           "Proxy-Authentication-Info",
                           "Authorization",
                           "Transfer-Encoding",
                           "Content-Length",
                           "Upgrade",
                           "Trailer",
                           "TE",
                           "Server",
                           "Date",
                           "Via",
                           "X-Powered-By",
                           "Alt-Svc",
                           "Strict-Transport-Security",
                           "Access-Control-Allow-Origin",
                           "Clear-Site-Data",
                           "X-Internal-Worker",
                           "x-rate",
                           "ratelimit_x"})
    headers.add(name, "1");
  EXPECT_EQ(names_that_pass(headers), "");
}

TEST(Upstream, a_field_that_the_connection_names_stays_behind_whatever_it_is) {
  net::Headers headers;
  headers.add("Connection", "close, Retry-After");
  headers.add("Retry-After", "1");
  headers.add("X-Request-Id", "a");
  EXPECT_EQ(names_that_pass(headers), "X-Request-Id");
}

}  // namespace
}  // namespace verbatim::engine
