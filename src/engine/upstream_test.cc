#include "engine/upstream.h"

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

}  // namespace
}  // namespace verbatim::engine
