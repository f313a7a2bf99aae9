#include "cassette/normal_request.h"

#include <gtest/gtest.h>

namespace verbatim::cassette {
namespace {

NormalRequest of(const std::string& body, const std::vector<std::string>& ignored = {}) {
  auto normal = normalise("POST", "/v1/responses", {}, body, ignored);
  EXPECT_TRUE(normal.ok()) << body;
  return *normal;
}

TEST(NormalRequest, what_means_the_same_is_alike) {
  const std::pair<const char*, const char*> kAlike[] = {
      {R"({"a":1,"b":[true]})", R"({ "b": [true], "a": 1.0 })"},
      {R"({"a":{"x":null,"y":1e2}})", R"({"a":{"y":100}})"},
      {R"({"stream":false})", R"({})"},
      {R"({"input":"hi"})", R"({"input":[{"role":"user","content":"hi"}]})"},
      {R"({"input":[{"role":"user","content":"hi"}]})",
       R"({"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]})"},
      {R"({"input":[{"type":"message","role":"assistant","content":"hi"}]})",
       R"({"input":[{"role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[],"logprobs":[]}]}]})"},
  };
  for (const auto& [a, b] : kAlike) {
    EXPECT_EQ(of(a), of(b)) << a;
    EXPECT_EQ(first_difference(of(a), of(b)), "");
  }
}

TEST(NormalRequest, everything_else_counts_and_the_first_difference_is_told) {
  const std::tuple<const char*, const char*, const char*> kOther[] = {
      {R"({"a":1})", R"({"a":2})", "body.a: found 1, recorded 2"},
      {R"({"a":1})", R"({"a":"1"})", "body.a: found 1, recorded \"1\""},
      {R"({"previous_response_id":"r"})", "{}",
       "body.previous_response_id: found \"r\", recorded nothing"},
      {"{}", R"({"stream":true})", "body.stream: found nothing, recorded true"},
      {R"({"input":[{"role":"user","content":"a"}]})", R"({"input":"b"})",
       "body.input[0].content[0].text: found \"a\", recorded \"b\""},
      {R"({"input":[{"role":"assistant","id":"msg_1","content":"a"}]})",
       R"({"input":[{"role":"assistant","content":"a"}]})",
       "body.input[0].id: found \"msg_1\", recorded nothing"},
      {R"({"input":[{"type":"a"}]})", R"({"input":[{"type":"a"},{"type":"b"}]})",
       R"(body.input[1]: found nothing, recorded {"type":"b"})"},
      {R"({"input":[{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[1]}]}]})",
       R"({"input":[{"role":"assistant","content":"a"}]})",
       "body.input[0].content[0].annotations: found [1], recorded nothing"},
      {R"({"n":9007199254740993})", R"({"n":9007199254740992})",
       "body.n: found 9007199254740993, recorded 9007199254740992"},
      {R"({"n":18446744073709551617})", R"({"n":18446744073709551616})",
       "body.n: found 18446744073709551617, recorded 18446744073709551616"},
  };
  for (const auto& [a, b, why] : kOther) EXPECT_EQ(first_difference(of(a), of(b)), why);
}

TEST(NormalRequest, named_members_are_not_compared) {
  EXPECT_EQ(of(R"({"a":1,"metadata":{}})", {"metadata"}), of(R"({"a":1})", {"metadata"}));
  EXPECT_NE(of(R"({"x":{"metadata":1}})", {"metadata"}), of(R"({"x":{}})", {"metadata"}));
}

TEST(NormalRequest, an_empty_body_is_an_empty_object) {
  EXPECT_EQ(of(""), of("{}"));
  for (const std::string body : {"[]", "1", "{"})
    EXPECT_EQ(normalise("POST", "/", {}, body).error().field, "body") << body;
}

TEST(NormalRequest, method_path_and_query_count) {
  const auto request = [](const char* method, const char* path, const char* query) {
    return *normalise(method, path, read_query(query), "");
  };
  EXPECT_EQ(request("GET", "/a", "x=1&y=2"), request("GET", "/a", "y=2&x=1"));
  EXPECT_EQ(request("GET", "/a", "x=1&api_key=k"), request("GET", "/a", "x=1&api_key=other"));
  EXPECT_EQ(first_difference(request("GET", "/a", ""), request("POST", "/a", "")),
            "found GET /a, recorded POST /a");
  EXPECT_EQ(first_difference(request("GET", "/a", "x=1"), request("GET", "/a", "x=2")),
            "the query is another");
}

}  // namespace
}  // namespace verbatim::cassette
