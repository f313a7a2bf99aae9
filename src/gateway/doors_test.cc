#include "gateway/doors.h"

#include <set>

#include <gtest/gtest.h>

namespace verbatim::gateway {
namespace {

base::Result<Door> door(std::string_view header, std::string_view name,
                        const std::string& owner = "", std::string_view operators = "") {
  net::Headers headers;
  if (!header.empty()) headers.add(header, name);
  Caller caller;
  caller.owner = owner;
  return door_of_headers(headers, caller, operators, 7);
}

TEST(Doors, without_a_header_it_is_stateless_chat) {
  const auto stateless = door("", "", "ann").value();
  EXPECT_EQ(stateless.session_id, "");
  EXPECT_EQ(stateless.owner, "ann");
  EXPECT_EQ(stateless.use, store::SessionUse::kImplicit);
}

TEST(Doors, every_header_and_owner_and_name_is_a_session_of_its_own) {
  std::set<std::string> ids;
  for (const char* header :
       {"X-Claude-Code-Session-Id", "session-id", "thread-id", "X-Session-ID"}) {
    for (const char* owner : {"", "ann"}) {
      for (const char* name : {"a", "b"}) {
        const auto named = door(header, name, owner).value();
        EXPECT_EQ(named.session_id, door(header, name, owner)->session_id) << "always the same";
        EXPECT_EQ(named.use, store::SessionUse::kImplicit);
        ASSERT_NE(named.spec, nullptr);
        EXPECT_EQ(named.spec->owner, owner);
        EXPECT_EQ(named.spec->id, named.session_id);
        ids.insert(named.session_id);
      }
    }
  }
  EXPECT_EQ(ids.size(), 16U);
}

TEST(Doors, the_operators_own_header_comes_first) {
  net::Headers headers;
  headers.add("x-session-id", "a").add("X-Mine", "b");
  const auto known = door_of_headers(headers, {}, "", 7).value();
  const auto own = door_of_headers(headers, {}, "x-mine", 7).value();
  EXPECT_EQ(known.session_id, door("x-session-id", "a")->session_id);
  EXPECT_EQ(own.session_id, door("x-mine", "b", "", "x-mine")->session_id);
  EXPECT_EQ(door("X-Mine", "b")->session_id, "") << "nobody asked for it";
}

TEST(Doors, hostile_names_are_refused_naming_the_field) {
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string("../../etc/passwd"),
        std::string("a/b"), std::string("a\\b"), std::string("a b"), std::string("a\0b", 3),
        std::string("a\nb"), std::string("\x7f"), std::string("\xc3\xa4"), std::string(201, 'a'),
        std::string(4096, 'a'), std::string("%2e%2e"), std::string("a'b\"c<d>")}) {
    const auto refused = door("X-Session-ID", name);
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_EQ(refused.error().kind, base::ErrorKind::kInvalidRequest);
    EXPECT_EQ(refused.error().field, "x-session-id");
  }
  EXPECT_TRUE(door("X-Session-ID", std::string(200, 'a')).ok());
  EXPECT_TRUE(door("X-Session-ID", "0b6e8c1e-6f1f-4f6e-9a55-8d5a3d2f7c11").ok());
}

TEST(Doors, an_id_that_is_no_name_is_not_repeated) {
  EXPECT_NE(no_session("abc").message.find("session_id=abc;"), std::string::npos);
  EXPECT_EQ(no_session("\xff<script>").message.find("script"), std::string::npos);
  EXPECT_LT(no_session(std::string(5000, 'a')).message.size(), 200U);
}

}  // namespace
}  // namespace verbatim::gateway
