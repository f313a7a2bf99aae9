#include "cassette/cassette.h"

#include <string>

#include <gtest/gtest.h>

#include "cassette/testing/samples.h"

namespace verbatim::cassette {
namespace {

using testing::good_text;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::size_t line_of(const std::string& text, const std::string& what) {
  const auto at = text.find(what);
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

std::string told(const std::vector<Problem>& problems) {
  std::string out;
  for (const auto& problem : problems)
    out += std::to_string(problem.line) + ": " + problem.message + "\n";
  return out;
}

TEST(Cassette, a_good_file_is_read_whole) {
  const auto read = read_cassette(good_text());
  ASSERT_EQ(told(read.problems), "");
  EXPECT_EQ(read.cassette.provider, R"({"name":"dynamo"})");
  ASSERT_EQ(read.cassette.turns.size(), 2U);
  const auto& first = read.cassette.turns[0];
  EXPECT_EQ(name_of(first), "t1 POST /v1/responses");
  EXPECT_EQ(first.request.body, R"({"model":"m","input":"hello"})");
  EXPECT_EQ(first.request.headers, (Pairs{{"content-type", "application/json"}}));
  EXPECT_EQ(first.response.body, R"({"id":"resp_1"})");
  EXPECT_FALSE(first.response.sse);
  const auto& second = read.cassette.turns[1];
  EXPECT_EQ(second.response.status, 200);
  ASSERT_TRUE(second.response.sse);
  EXPECT_EQ((*second.response.sse)[1], "data: {\"type\": \"response.completed\"}\n");
}

// What a rule's break is: a text put in place of another, and what is told of it, at which line.
struct Break {
  const char* name;
  std::string what;
  std::string with;
  std::string at;  // the line that holds this in the broken text
  std::string message;
};

const std::vector<Break>& breaks() {
  const std::string line = "    - \"data: {\\\"type\\\": \\\"response.completed\\\"}\\n\"\n";
  static const std::vector<Break> kBreaks = {
      {"no turns", "turns:", "turn:", "provider:", "turns is missing"},
      {"turns no list", "turns:\n", "turns: 1\nmore:\n",
       "turns:", "turns: expected a list, found a number"},
      {"no filename", "- filename: t1\n  request", "- request", "- request", "filename is missing"},
      {"no request",
       "  request:\n    method: POST\n    path: /v1/responses\n    query_params: {}\n    "
       "headers:\n      content-type: application/json\n    body:\n      model: m\n      input: "
       "hello\n",
       "", "filename: t1", "request is missing"},
      {"no method", "    method: POST\n", "", "    path: /v1", "method is missing"},
      {"empty method", "method: POST", "method: ''", "method: ''", "method: must not be empty"},
      {"no path", "    path: /v1/responses\n", "", "    method: POST", "path is missing"},
      {"relative path", "path: /v1/responses", "path: v1/responses", "path: v1",
       "path: expected one that begins with /, found v1/responses"},
      {"no body of a request", "    body:\n      model: m\n      input: hello\n", "",
       "    method: POST", "body is missing"},
      {"body of a request no object", "    body:\n      model: m\n      input: hello\n",
       "    body: hello\n", "    body: hello", "body: expected a mapping, found a string"},
      {"no response",
       "  response:\n    status_code: 200\n    headers:\n      content-type: application/json\n    "
       "body:\n      id: resp_1\n",
       "", "filename: t1", "response is missing"},
      {"no status", "    status_code: 200\n", "",
       "    headers:\n      content-type: application/json\n    body:\n      id",
       "status_code is missing"},
      {"status in quotes", "status_code: 200", "status_code: '200'", "status_code: '200'",
       "status_code: expected a number from 100 to 599"},
      {"status of no HTTP", "status_code: 200", "status_code: 20", "status_code: 20\n",
       "status_code: expected a number from 100 to 599"},
      {"body and sse", "      id: resp_1\n", "      id: resp_1\n    sse: []\n", "    status_code",
       "a response has either `body` or `sse`, found both"},
      {"neither body nor sse", "    body:\n      id: resp_1\n", "", "    status_code",
       "a response has either `body` or `sse`, found none"},
      {"body that is no text",
       "    status_code: 200\n    headers:\n      content-type: application/json\n    body:\n      "
       "id",
       "    status_code: 200\n    headers:\n      content-type: text/plain\n    body:\n      id",
       "      id: resp_1",
       "body: expected a string, as the content type \"text/plain\" is not JSON's"},
      {"unknown member", "    body:\n      id: resp_1\n",
       "    body:\n      id: resp_1\n    bdoy: 1\n", "    bdoy", "a response has no `bdoy`"},
      {"recorded WebSockets", "turns:", "sessions: []\nturns:", "provider:",
       "`sessions` (recorded WebSockets) are not read; `turns` are"},
      {"data that is no JSON", "response.completed\\\"}\\n", "response.completed\\\"\\n",
       "    - \"data", "sse: data that is no JSON: "},
      {"no terminal event", "{\\\"type\\\": \\\"response.completed\\\"}",
       "{\\\"type\\\": \\\"response.created\\\"}", "    - \"event",
       "sse: ends neither with a terminal event nor with [DONE]"},
      {"no event", line, "", "    - \"event", "sse: no event"},
      {"a line without its end", "response.completed\\n", "response.completed", "    - \"event",
       "sse: a line has one line end, and at its end"},
      {"two lines in one", "    - \"event: response.completed\\n\"",
       "    - \"event: response.completed\\nid: 1\\n\"", "    - \"event",
       "sse: a line has one line end, and at its end"},
      {"an event cut at its end", "    - \"\\n\"\n", "    - \"id: 1\"\n", "    - \"id",
       "sse: a line has one line end, and at its end"},
  };
  return kBreaks;
}

TEST(Cassette, each_rule_that_is_broken_is_told_with_its_line) {
  for (const auto& each : breaks()) {
    SCOPED_TRACE(each.name);
    const auto text = replaced(good_text(), each.what, each.with);
    const auto problems = read_cassette(text).problems;
    EXPECT_FALSE(problems.empty());
    if (problems.empty()) continue;
    EXPECT_EQ(problems[0].message.substr(0, each.message.size()), each.message) << told(problems);
    EXPECT_EQ(problems[0].line, line_of(text, each.at)) << told(problems);
  }
}

TEST(Cassette, turns_must_be_there) {
  EXPECT_EQ(told(read_cassette("turns: []\n").problems), "1: turns: expected at least one\n");
  EXPECT_EQ(told(read_cassette("- turns\n").problems),
            "1: a cassette: expected a mapping, found a list\n");
}

TEST(Cassette, all_that_is_wrong_is_told_in_order) {
  auto text = replaced(good_text(), "path: /v1/responses", "path: v1");
  text = replaced(text, "response.completed\\\"}\\n", "}\\n");
  const auto problems = read_cassette(text).problems;
  ASSERT_EQ(problems.size(), 2U) << told(problems);
  EXPECT_LT(problems[0].line, problems[1].line);
}

TEST(Cassette, done_ends_a_stream_too) {
  const std::string event = R"({\"type\": \"response.completed\"})";
  EXPECT_EQ(told(read_cassette(replaced(good_text(), event, "[DONE]")).problems), "");
  for (const std::string type : {"response.incomplete", "response.failed", "message_stop"}) {
    const auto text = replaced(good_text(), event, R"({\"type\": \")" + type + R"(\"})");
    EXPECT_EQ(told(read_cassette(text).problems), "") << type;
  }
}

TEST(Cassette, a_stream_that_was_cut_says_so_and_needs_no_end) {
  const std::string event = R"({\"type\": \"response.completed\"})";
  const auto cut = replaced(good_text(), event, R"({\"type\": \"response.created\"})");
  for (const std::string why : {"stream_error", "transport_error"}) {
    std::string text = cut;
    text.append("    ").append(why).append(": reset\n");
    EXPECT_EQ(told(read_cassette(text).problems), "") << why;
  }
}

TEST(Cassette, a_stream_with_an_error_status_needs_no_end) {
  auto text = replaced(good_text(), R"(response.completed\"})", R"(error\"})");
  const auto at = text.rfind("status_code: 200");
  text.replace(at, 16, "status_code: 500");
  EXPECT_EQ(told(read_cassette(text).problems), "");
}

TEST(Cassette, what_is_written_is_read_back) {
  Cassette cassette;
  cassette.provider = R"({"name": "dynamo", "version":"1.6.1"})";
  cassette.turns.push_back(
      testing::whole_turn("t1", R"({"a": "\u00e9\n", "n": 1.50, "deep": [{"x": null}, [], {}]})",
                          R"({"text": "é: - #"})"));
  cassette.turns.push_back(
      testing::streamed_turn("t2", R"({"stream":true})", {R"({"x":" "})", "[DONE]"}));
  cassette.turns[0].request.query = {{"a", "1"}, {"b", ""}};
  cassette.turns.push_back(cassette.turns[1]);
  cassette.turns[2].filename = "t3";
  cassette.turns[2].response.sse->back() = "data: half";
  cassette.turns[2].response.transport_error = "cut";
  const auto text = write_cassette(cassette);
  ASSERT_TRUE(text.ok()) << text.error().message;
  const auto read = read_cassette(*text);
  ASSERT_EQ(told(read.problems), "");
  ASSERT_EQ(read.cassette.turns.size(), 3U);
  EXPECT_EQ(read.cassette.provider, R"({"name":"dynamo","version":"1.6.1"})");
  EXPECT_EQ(read.cassette.turns[0].request.body,
            R"({"a":"é\n","n":1.50,"deep":[{"x":null},[],{}]})");
  EXPECT_EQ(read.cassette.turns[0].request.query, cassette.turns[0].request.query);
  EXPECT_EQ(read.cassette.turns[1].response.sse, cassette.turns[1].response.sse);
  EXPECT_EQ(read.cassette.turns[2].response.sse, cassette.turns[2].response.sse);
  EXPECT_EQ(read.cassette.turns[2].response.transport_error, "cut");
}

TEST(Cassette, what_would_not_come_back_is_not_written) {
  Cassette twice;
  twice.turns.push_back(testing::whole_turn("t1", R"({"a":1,"a":2})", "{}"));
  EXPECT_NE(write_cassette(twice).error().message.find("stands there twice"), std::string::npos);
  Cassette no_end;
  no_end.turns.push_back(testing::streamed_turn("t1", "{}", {R"({"type":"response.created"})"}));
  EXPECT_NE(write_cassette(no_end).error().message.find("ends neither"), std::string::npos);
  Cassette no_json;
  no_json.turns.push_back(testing::whole_turn("t1", "{}", "<html>"));
  EXPECT_EQ(write_cassette(no_json).error().field, "t1 POST /v1/responses.response.body");
}

}  // namespace
}  // namespace verbatim::cassette
