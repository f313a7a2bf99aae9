#include "protocol/responses_tools.h"

#include <string>

#include <gtest/gtest.h>

#include "json/value.h"
#include "protocol/responses_request.h"

namespace verbatim::protocol {
namespace {

ResponsesRequest read(const std::string& body, Unserved unserved = Unserved::kRefuse) {
  const auto document = json::Document::parse(body);
  EXPECT_TRUE(document.ok()) << body;
  auto request = read_responses_request(document->root(), unserved);
  EXPECT_TRUE(request.ok()) << body << ": " << (request ? "" : request.error().message);
  return request ? std::move(*request) : ResponsesRequest{};
}

TEST(ResponsesTools, each_goes_up_as_a_function_and_comes_back_as_what_it_is) {
  const auto request = read(
      R"({"input":"hi","tools":[{"type":"function","name":"f","description":null,"parameters":{"type":"object"}},)"
      R"({"type":"custom","name":"patch","description":"d","format":{"type":"grammar","syntax":"lark","definition":"start: X"}},)"
      R"({"type":"local_shell"},{"type":"namespace","name":"agents","tools":[{"type":"function","name":"run"}]}]})");
  const auto& functions = request.tools.functions();
  ASSERT_EQ(functions.size(), 4u);
  EXPECT_EQ(functions[0].raw,
            R"({"type":"function","function":{"name":"f","parameters":{"type":"object"}}})");
  EXPECT_NE(functions[1].raw.find("start: X"), std::string::npos);
  EXPECT_EQ(request.tools.at("patch").kind, ToolKind::kCustom);
  EXPECT_EQ(request.tools.at("local_shell").kind, ToolKind::kLocalShell);
  const auto run = request.tools.at("agents__run");
  EXPECT_EQ(run.kind, ToolKind::kFunction);
  EXPECT_EQ(run.name, "run");
  EXPECT_EQ(run.space, "agents");
  EXPECT_EQ(request.tools.at("made_up").name, "made_up");
}

TEST(ResponsesTools, those_among_the_items_hold_like_the_others) {
  const std::string more =
      R"({"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]})";
  const auto request = read(
      R"({"input":[{"type":"additional_tools","role":"developer","tools":[)" + more +
      R"(]},{"role":"user","content":"go"},{"type":"custom_tool_call","call_id":"c1",)"
      R"("namespace":"functions","name":"exec","input":"x"}],"tools":[{"type":"local_shell"}]})");
  const auto& functions = request.tools.functions();
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[1].name, "functions__exec");
  const auto exec = request.tools.at("functions__exec");
  EXPECT_EQ(exec.kind, ToolKind::kCustom);
  EXPECT_EQ(exec.name, "exec");
  EXPECT_EQ(exec.space, "functions");
  ASSERT_EQ(request.messages.size(), 2u) << "it is no message";
  EXPECT_EQ(request.messages[1].tool_calls[0].name, "functions__exec");
  const RawMember echoed{"tools", R"([{"type":"local_shell"},)" + more + "]"};
  EXPECT_EQ(request.echo, std::vector<RawMember>{echoed});
}

TEST(ResponsesTools, what_a_search_found_is_read_where_it_was_found) {
  const std::string found =
      R"([{"type":"namespace","name":"cal","tools":[{"type":"function","name":"add"}]}])";
  const std::string call =
      R"({"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{"query":"x"}})";
  const std::string output =
      R"({"type":"tool_search_output","call_id":"c1","tools":)" + found + "}";
  // Found twice, as a second search may.
  const auto request =
      read(R"({"tools":[{"type":"tool_search","execution":"client","description":"d",)"
           R"("parameters":{"type":"object"}}],"input":[)" +
               call + "," + output + "," + call + "," + output + "]}",
           Unserved::kKeep);
  ASSERT_EQ(request.tools.functions().size(), 1u) << "the prompt's head stays as it is";
  EXPECT_EQ(request.tools.functions()[0].raw,
            R"({"type":"function","function":{"name":"tool_search","description":"d",)"
            R"("parameters":{"type":"object"}}})");
  EXPECT_EQ(request.tools.at("tool_search").kind, ToolKind::kToolSearch);
  EXPECT_EQ(request.tools.at("cal__add").space, "cal");
  ASSERT_EQ(request.messages.size(), 4u);
  EXPECT_EQ(request.messages[0].tool_calls[0].arguments, R"({"query":"x"})");
  EXPECT_EQ(request.messages[1].text, R"([{"type":"function","function":{"name":"cal__add"}}])");
  EXPECT_NE(unknown_member(request.messages[1], kItems).find(R"("type":"function_call_output")"),
            std::string::npos);
}

TEST(ResponsesTools, long_names_keep_apart) {
  const std::string space(40, 's');
  const std::string one = function_name(space, std::string(40, 'a') + "1");
  const std::string two = function_name(space, std::string(40, 'a') + "2");
  EXPECT_EQ(one.size(), 64u);
  EXPECT_EQ(two.size(), 64u);
  EXPECT_NE(one, two);
}

}  // namespace
}  // namespace verbatim::protocol
