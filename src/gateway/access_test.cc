#include "gateway/access.h"

#include <gtest/gtest.h>

#include "gateway/testing/scene.h"

namespace verbatim::gateway {
namespace {

using base::ErrorKind;
using testing::Scene;

constexpr const char* kAnn = "ann-key-0123456789";
constexpr const char* kBob = "bob-key-0123456789";

ApiKeys keys() {
  return ApiKeys::read(std::string("# who may\n\nann ") + kAnn + "\r\n  bob\t" + kBob + "\n")
      .value();
}

base::Result<Caller> who(Scene& scene, const ApiKeys& known, std::string_view name,
                         std::string_view value) {
  net::Headers headers;
  if (!name.empty()) headers.add(name, value);
  std::optional<base::Result<Caller>> caller;
  scene.run([](const ApiKeys& k, store::Store& store, const net::Headers& h,
               std::optional<base::Result<Caller>>& out) -> base::Task<void> {
    out = co_await identify(k, store, h);
  }(known, scene.store, headers, caller));
  return *std::move(caller);
}

TEST(Access, a_key_names_its_owner_wherever_it_stands) {
  Scene scene;
  EXPECT_EQ(who(scene, keys(), "Authorization", std::string("Bearer ") + kAnn)->owner, "ann");
  EXPECT_EQ(who(scene, keys(), "authorization", std::string("bearer   ") + kBob)->owner, "bob");
  EXPECT_EQ(who(scene, keys(), "X-Api-Key", kBob)->owner, "bob");
}

TEST(Access, owners_are_counted_once_however_many_keys_they_have) {
  EXPECT_EQ(ApiKeys().owners(), 1U);
  const auto two =
      ApiKeys::read("ann 0123456789abcdef0\nbob 0123456789abcdef1\nann 0123456789abcdef2\n");
  ASSERT_TRUE(two.ok()) << two.error().message;
  EXPECT_EQ(two->owners(), 2U);
}

TEST(Access, without_a_known_key_nobody_comes_in) {
  Scene scene;
  struct Row {
    const char* name;
    std::string value;
  };
  const std::vector<Row> rows{{"", ""},
                              {"Authorization", ""},
                              {"Authorization", "Bearer"},
                              {"Authorization", "Bearer "},
                              {"Authorization", "Basic YTpi"},
                              {"Authorization", std::string("Bearer ") + kAnn + "x"},
                              {"Authorization", std::string("Bearer ANN-KEY-0123456789")},
                              {"x-api-key", "ann"},
                              {"x-api-key", "vbs_guess"}};
  for (const auto& row : rows) {
    const auto caller = who(scene, keys(), row.name, row.value);
    ASSERT_FALSE(caller.ok()) << row.name << ": " << row.value;
    EXPECT_EQ(caller.error().kind, ErrorKind::kUnauthorized);
    EXPECT_EQ(caller.error().message.find(kAnn), std::string::npos) << "keys are not repeated";
  }
}

TEST(Access, a_server_without_keys_takes_any_but_no_secret_of_a_session_that_is_gone) {
  Scene scene;
  EXPECT_EQ(who(scene, {}, "", "")->owner, "");
  EXPECT_EQ(who(scene, {}, "Authorization", "Bearer EMPTY")->owner, "");
  const auto gone = who(scene, {}, "Authorization", "Bearer vbs_gone");
  ASSERT_FALSE(gone.ok()) << "its agent must not land in stateless chat";
  EXPECT_EQ(gone.error().kind, ErrorKind::kUnauthorized);
}

TEST(Access, a_sessions_secret_names_the_session_and_its_owner) {
  Scene scene;
  const auto secret = new_secret(scene.world.random);
  EXPECT_TRUE(secret.starts_with(kSecretPrefix));
  scene.run([](store::Store& store, const std::string& key) -> base::Task<void> {
    store::SessionSpec spec("own", 1);
    spec.owner = "ann";
    spec.secret_hash = secret_hash(key);
    EXPECT_TRUE((co_await store.create_session(std::move(spec))).ok());
  }(scene.store, secret));
  for (const auto& known : {ApiKeys(), keys()}) {
    const auto caller = who(scene, known, "Authorization", "Bearer " + secret);
    ASSERT_TRUE(caller.ok());
    EXPECT_EQ(caller->owner, "ann");
    EXPECT_EQ(caller->session_id, "own");
  }
}

TEST(Access, a_file_of_keys_that_is_wrong_says_where_and_never_shows_a_key) {
  const std::string key = "0123456789abcdef";
  const std::vector<std::pair<std::string, std::string>> rows{
      {"", ""},
      {"# nothing\n", ""},
      {"ann", "line 1"},
      {"ann short", "line 1"},
      {"\nann " + key + " more", "line 2"},
      {"ann " + key + "\nbob " + key, "line 2"},
      {"ann vbs_" + key, "line 1"},
      {"ann " + std::string(600, 'k'), "line 1"},
      {std::string(200, 'o') + " " + key, "line 1"},
      {"ann " + key + "\nbob \xff" + key, "line 2"},
      {"ann " + key + "\nb\xc3 " + key, "line 2"},
      {"ann " + key + "\n# caf\xe9\n", "line 2"},
      {"ann " + key + std::string("\0", 1), "line 1"},
      {"a\x01n " + key, "line 1"},
      {"ann \x7f" + key, "line 1"},
      {"\xef\xbb\xbf"
       "ann " +
           key,
       "line 1"}};
  for (const auto& [text, place] : rows) {
    const auto read = ApiKeys::read(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().field, place) << text;
    EXPECT_EQ(read.error().message.find(key), std::string::npos);
  }
}

// Had each line looked at all before it, ten thousand of them would take minutes.
TEST(Access, a_file_with_as_many_keys_as_there_may_be_is_read_and_one_more_is_refused) {
  std::string text = "# caf\xc3\xa9\n";
  for (int i = 0; i < 10'000; ++i)
    text += "owner" + std::to_string(i) + " key-0123456789-" + std::to_string(i) + "\n";
  const auto read = ApiKeys::read(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_NE(read->owner_of("key-0123456789-9999"), nullptr);
  EXPECT_EQ(*read->owner_of("key-0123456789-9999"), "owner9999");
  EXPECT_EQ(ApiKeys::read(text + "eve eve-key-0123456789").error().field, "line 10002");
}

}  // namespace
}  // namespace verbatim::gateway
