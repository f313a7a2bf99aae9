#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/sqlite/exchange.h"
#include "store/testing/full_turn.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::testing {

// A store that is closed while it is exported, or filled.
struct ExchangePlace {
  explicit ExchangePlace(std::uint64_t seed) : stage(seed), random(seed) {}

  sqlite::ToolTarget target() { return {stage.files, SqliteStage::kPath, stage.vfs.name()}; }
  void create(const std::string& id, std::string secret_hash = "") {
    SessionSpec spec(id, 7);
    spec.owner = "owner \"of\" " + id;
    spec.options = R"({"mode":"linear"})";
    spec.metadata = "{\"é\":1}";
    spec.secret_hash = std::move(secret_hash);
    ASSERT_TRUE(stage.run(stage.store().create_session(std::move(spec))).ok());
  }
  // Random, but as a turn of the gateway fits to its parent and to itself.
  TurnPtr add(const std::string& session, TurnPtr parent, SessionUse use = SessionUse::kExisting,
              const std::string& response = "", const ConversationChange* conversation = nullptr) {
    auto turn = full_turn(random, session, std::move(parent));
    if (!turn->parent || turn->parent->completion.empty()) turn->parent_trim = 0;
    turn->spans.clear();
    if (!turn->prompt.empty())
      turn->spans.push_back({static_cast<std::uint32_t>(turn->prompt.size()), {}, {}, {}});
    const auto before = turn->parent ? turn->parent->row_size - turn->parent_trim : 0;
    turn->row_size = before + turn->prompt.size() + turn->completion.size();
    NewTurns turns(std::move(turn), use);
    if (!response.empty()) turns.response = full_response(response, *turns.turns.front());
    if (conversation != nullptr) {
      turns.conversation = std::make_unique<ConversationChange>(*conversation);
      turns.conversation->answer = {turns.turns.front()->id, true, R"({"tools":[]})"};
    }
    auto added = stage.run(stage.store().commit(std::move(turns)));
    EXPECT_TRUE(added.ok()) << added.error().message;
    return added->front();
  }
  // A conversation with an answer, one without a turn, and one of which an item is gone.
  void fill_conversations() {
    for (const char* id : {"conv_a", "conv_empty", "conv_less"}) {
      ConversationChange first;
      first.id = id;
      first.metadata = "{\"é\":\"1\"}";
      for (const char* item : {"msg_1", "msg_2"})
        first.added.push_back({item, std::string("{\"id\":\"") + item + "\"}"});
      SessionSpec spec(id, 7);
      ASSERT_TRUE(stage.run(stage.store().create_conversation(spec, first)).ok());
    }
    ConversationChange answer;
    answer.id = "conv_a";
    answer.added.push_back({"msg_3", R"({"id":"msg_3"})"});
    add("conv_a", nullptr, SessionUse::kExisting, "resp_conv", &answer);
    ConversationChange less;
    less.id = "conv_less";
    less.removed = "msg_1";
    ASSERT_TRUE(stage.run(stage.store().change_conversation(less)).ok());
  }
  // Trees, siblings, a session without turns, one that is gone, sessions that no one created.
  void fill() {
    create("a");
    create("empty", "hash of a secret");
    create("gone");
    const auto one = add("a", nullptr);
    add("implicit", nullptr, SessionUse::kImplicit, "resp_b");
    auto two = add("a", one);
    add("a", one);
    for (int i = 0; i < 4; ++i)
      two = add("a", two, SessionUse::kExisting, "resp_" + std::to_string(i));
    add("implicit2", nullptr, SessionUse::kImplicit);
    add("a", nullptr);
    add("gone", nullptr);
    ASSERT_TRUE(stage.run(stage.store().delete_session("gone")).ok());
    fill_conversations();
  }
  // What all sessions count as theirs on the disk.
  std::int64_t disk_bytes() {
    auto connection = sqlite::Connection::to(SqliteStage::kPath, sqlite::Connection::Mode::kRead,
                                             stage.vfs.name());
    return connection.value().integer("SELECT sum(disk) FROM session").value();
  }
  std::vector<std::string> exported() {
    stage.close();
    std::vector<std::string> lines;
    const auto done = sqlite::export_file(
        target(),
        [&lines](std::string_view line) {
          lines.emplace_back(line.substr(0, line.size() - 1));
          return base::Status();
        },
        nullptr);
    EXPECT_TRUE(done.ok()) << done.error().message;
    EXPECT_TRUE(stage.open().ok());
    return lines;
  }
  base::Result<sqlite::Exchanged> import(const std::vector<std::string>& lines) {
    stage.close();
    std::size_t at = 0;
    auto done = sqlite::import_file(
        target(), random,
        [&]() -> base::Result<std::optional<std::string_view>> {
          if (at == lines.size()) return std::optional<std::string_view>();
          return std::optional<std::string_view>(lines[at++]);
        },
        nullptr);
    EXPECT_TRUE(stage.open().ok());
    return done;
  }
  void expect_refused(const std::vector<std::string>& lines, base::ErrorKind kind,
                      const std::string& words) {
    const auto before = stage.database().dump();
    const auto key = stage.database().key();
    const auto done = import(lines);
    ASSERT_FALSE(done.ok()) << words;
    EXPECT_EQ(done.error().kind, kind);
    EXPECT_NE(done.error().message.find(words), std::string::npos) << done.error().message;
    EXPECT_EQ(stage.database().dump(), before);
    EXPECT_EQ(stage.database().key(), key);
  }
  void expect_sound() {
    stage.close();
    const auto report = sqlite::check_file(target(), nullptr);
    ASSERT_TRUE(report.ok()) << report.error().message;
    EXPECT_TRUE(report->problems.empty()) << report->problems.front();
    EXPECT_TRUE(stage.open().ok());
  }

  SqliteStage stage;
  base::SeededRandom random;
};

}  // namespace verbatim::store::testing
