#include "gateway/client_profiles.h"

#include <set>

#include <gtest/gtest.h>

#include "gateway/profiles_embedded.h"

namespace verbatim::gateway {
namespace {

using trajectory::Spelling;

constexpr const char* kWhole = R"({"version": 1, "name": "mine", "about": "An agent",
  "user_agents": ["mine/", "mine-cli/"],
  "arguments": {"scalars_in_strings": true,
                "without_prefix": [{"argument": "cmd", "starts": "cd ", "ends": "; "}]},
  "volatile_lines": ["Today:"]})";

TEST(ClientProfile, every_file_of_the_build_is_read_and_fits_its_name) {
  std::set<std::string> names;
  std::set<std::string> agents;
  for (const auto text : kProfileFiles) {
    const auto profile = parse_client_profile(text);
    ASSERT_TRUE(profile.ok()) << profile.error().message << "\n" << text;
    EXPECT_TRUE(names.insert(profile->name).second) << profile->name;
    EXPECT_FALSE(profile->user_agents.empty()) << profile->name;
    EXPECT_NE(profile->spelling.rules(), "") << profile->name << " says nothing";
    for (const auto& agent : profile->user_agents) EXPECT_TRUE(agents.insert(agent).second);
  }
  EXPECT_EQ(names, (std::set<std::string>{"claude-code", "opencode"}));
}

TEST(ClientProfile, all_that_a_file_may_say_is_read) {
  const auto profile = parse_client_profile(kWhole);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->user_agents, (std::vector<std::string>{"mine/", "mine-cli/"}));
  Spelling spelling;
  spelling.scalars_in_strings = true;
  spelling.prefixes = {{"cmd", "cd ", "; "}};
  spelling.volatile_lines = {"Today:"};
  EXPECT_EQ(profile->spelling, spelling);
  const auto least = parse_client_profile(R"({"version":1,"name":"x","about":"y"})");
  ASSERT_TRUE(least.ok());
  EXPECT_EQ(least->spelling, Spelling{});
}

TEST(ClientProfile, what_is_wrong_in_a_file_is_named) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = kWhole;
    return text.replace(text.find(from), from.size(), to);
  };
  struct Row {
    std::string text;
    const char* field;
  };
  const std::vector<Row> rows{
      {"[]", ""},
      {with("\"version\": 1, ", ""), "version"},
      {with("\"version\": 1", "\"version\": 2"), "version"},
      {with("\"version\": 1", "\"version\": \"1\""), "version"},
      {with("\"name\": \"mine\", ", ""), "name"},
      {with("\"mine\"", "\"auto\""), "name"},
      {with("\"mine\"", "\"none\""), "name"},
      {with("\"mine\"", "\"Mine, yours\""), "name"},
      {with("\"about\": \"An agent\",", ""), "about"},
      {with("user_agents", "user_agent"), "user_agent"},
      {with("\"mine/\"", "\"\""), "user_agents"},
      {with("\"Today:\"", "\"\""), "volatile_lines"},
      {with("[\"Today:\"]", "\"Today:\""), "volatile_lines"},
      {with("scalars_in_strings", "scalars"), "arguments.scalars"},
      {with("true", "1"), "arguments.scalars_in_strings"},
      {with("\"starts\": \"cd \", ", ""), "arguments.without_prefix[0].starts"},
      {with("\"ends\": \"; \"", "\"ends\": \"\""), "arguments.without_prefix[0].ends"},
      {with("\"argument\"", "\"arg\""), "arguments.without_prefix[0].arg"},
  };
  for (const auto& row : rows) {
    const auto profile = parse_client_profile(row.text);
    ASSERT_FALSE(profile.ok()) << row.text;
    EXPECT_EQ(profile.error().field, row.field) << profile.error().message;
    EXPECT_EQ(profile.error().message.rfind("profile file", 0), 0U) << profile.error().message;
  }
  const auto cut = parse_client_profile("{\"version\": 1");
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("profile file"), std::string::npos) << cut.error().message;
}

TEST(ClientProfiles, an_agent_is_known_by_what_its_user_agent_begins_with) {
  const ClientProfiles profiles;
  const auto* claude = profiles.spelling("claude-code", "").value();
  EXPECT_EQ(profiles.spelling("", "claude-cli/2.1.332 (external, cli)").value(), claude);
  EXPECT_EQ(profiles.spelling("auto", "claude-cli/9").value(), claude);
  EXPECT_EQ(profiles.spelling("none", "claude-cli/9").value(), nullptr);
  EXPECT_EQ(profiles.spelling("opencode", "claude-cli/9").value(),
            profiles.spelling("", "opencode/1.18.33 ai-sdk").value());
  for (const char* other : {"", "Claude-cli/2", "curl/8 claude-cli/2", "OpenAI/Python 3.57.0"})
    EXPECT_EQ(profiles.spelling("", other).value(), nullptr) << other;
}

TEST(ClientProfiles, the_operators_say_comes_first) {
  ClientProfiles profiles;
  auto mine = parse_client_profile(kWhole).value();
  mine.user_agents = {"claude-cli/2.1.332"};
  profiles.add(mine);
  const auto* spelling = profiles.spelling("mine", "").value();
  EXPECT_EQ(*spelling, mine.spelling);
  EXPECT_EQ(profiles.spelling("", "claude-cli/2.1.332").value(), spelling);
  EXPECT_NE(profiles.spelling("", "claude-cli/2.1.331").value(), spelling);
  const std::size_t count = profiles.all().size();
  mine.name = "claude-code";
  profiles.add(mine);
  EXPECT_EQ(profiles.all().size(), count) << "in place of the one of its name";
  EXPECT_EQ(profiles.spelling("", "claude-cli/2.1.331").value(), nullptr);

  ASSERT_TRUE(profiles.set_default("mine").ok());
  EXPECT_EQ(*profiles.spelling("", "curl/8").value(), mine.spelling);
  EXPECT_EQ(profiles.spelling("none", "curl/8").value(), nullptr);
  EXPECT_EQ(profiles.spelling("auto", "curl/8").value(), nullptr);
}

TEST(ClientProfiles, a_name_that_is_none_is_refused_with_those_there_are) {
  ClientProfiles profiles;
  for (const auto& status :
       {profiles.check("cursor"), profiles.set_default("cursor"), profiles.check("")}) {
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.error().message.find("auto, none, claude-code, opencode"), std::string::npos)
        << status.error().message;
  }
  EXPECT_FALSE(profiles.spelling("cursor", "").ok());
}

}  // namespace
}  // namespace verbatim::gateway
