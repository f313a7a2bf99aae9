#include "cassette/secrets.h"

#include <gtest/gtest.h>

namespace verbatim::cassette {
namespace {

TEST(Secrets, only_headers_that_say_how_a_body_is_written_are_recorded) {
  net::Headers headers;
  headers.add("Content-Type", "application/json").add("Authorization", "Bearer sk-1");
  headers.add("X-Api-Key", "sk-2").add("Cookie", "a=b").add("OpenAI-Organization", "org-1");
  headers.add("X-Forwarded-For", "203.0.113.9").add("traceparent", "00-1").add("Accept", "a/b");
  headers.add("accept", "c/d").add("X-Anything-New", "who knows");
  EXPECT_EQ(request_headers(headers),
            (Pairs{{"content-type", "application/json"}, {"accept", "a/b, c/d"}}));
}

TEST(Secrets, of_an_answer_its_type_and_when_to_come_back) {
  net::Headers headers;
  headers.add("Set-Cookie", "session=1").add("content-type", "text/event-stream");
  headers.add("Retry-After", "2").add("openai-organization", "acme").add("x-request-id", "1");
  EXPECT_EQ(response_headers(headers),
            (Pairs{{"content-type", "text/event-stream"}, {"retry-after", "2"}}));
}

TEST(Secrets, query_parameters_are_told_by_their_names) {
  for (const auto* name : {"key", "api_key", "apikey", "API-KEY", "token", "access_token",
                           "x.secret", "password", "signature", "X-Amz-Signature", "sig", "code"})
    EXPECT_TRUE(is_secret(name)) << name;
  for (const auto* name : {"limit", "after", "tokens", "design", "barcode", "encode"})
    EXPECT_FALSE(is_secret(name)) << name;
}

}  // namespace
}  // namespace verbatim::cassette
