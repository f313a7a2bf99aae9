#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/sim/sim_worker.h"
#include "gateway/record_repair.h"
#include "gateway/recorder.h"
#include "gateway/testing/scene.h"

namespace verbatim::gateway::testing {

// What a store would say of turns that were committed in this order.
class ListedLog final : public store::CommitLog {
 public:
  std::vector<trajectory::TurnPtr> committed;
  std::set<std::string> deleted;
  std::vector<Ended> ended;
  std::set<std::uint64_t> gone;  // turns of the ended ones
  std::uint64_t forgotten = 0;   // ended ones up to here
  std::string name = "store1";
  int asked = 0;  // for what changed

  [[nodiscard]] std::string store_id() const override { return name; }
  base::Result<store::CommitPoint> newest() override { return point(committed.size()); }
  base::Result<bool> follows(const store::CommitPoint& before) override {
    return before.number <= committed.size() && before.ended <= ended.size() &&
           point(before.number).proof == before.proof;
  }
  base::Status each_changed(std::uint64_t number, const Visit& visit) override {
    ++asked;
    std::map<std::string, Changed> sessions;
    for (std::size_t i = 0; i < committed.size(); ++i) {
      const auto& turn = *committed[i];
      if (deleted.contains(turn.session_id) || gone.contains(turn.id)) continue;
      Changed& changed = sessions[turn.session_id];
      changed.session = turn.session_id;
      changed.turns.push_back({turn.seq, turn.parent ? turn.parent->seq : 0, turn.id});
      if (i >= number && changed.first_new == 0) changed.first_new = turn.seq;
    }
    for (const auto& [id, changed] : sessions) {
      if (changed.first_new == 0) continue;
      if (auto status = visit(changed); !status.ok()) return status;
    }
    return {};
  }
  void end(const std::string& session, std::uint64_t turns, Ended::Why why = Ended::Why::kDeleted) {
    ended.push_back({ended.size() + 1, session, turns, why, 77});
    for (const auto& turn : committed) {
      if (turn->session_id == session) gone.insert(turn->id);
    }
  }
  base::Status each_ended(std::uint64_t number, const VisitEnded& visit) override {
    for (const auto& each : ended) {
      if (each.number <= std::max(number, forgotten)) continue;
      if (auto status = visit(each); !status.ok()) return status;
    }
    return {};
  }
  void forget_ended(std::uint64_t number) override { forgotten = std::max(forgotten, number); }
  base::Result<std::vector<trajectory::TurnPtr>> turns(const std::string& session) override {
    std::vector<trajectory::TurnPtr> found;
    for (const auto& turn : committed) {
      if (turn->session_id == session && !gone.contains(turn->id)) found.push_back(turn);
    }
    return found;
  }
  base::Result<bool> has_session(const std::string& session) override {
    return !deleted.contains(session) && !turns(session)->empty();
  }

 private:
  [[nodiscard]] store::CommitPoint point(std::size_t number) const {
    return {number, number == 0 ? "" : std::to_string(committed[number - 1]->id), ended.size()};
  }
};

// A recorder that has written what the log holds.
struct WrittenRecords {
  WrittenRecords()
      : recorder(files(), scene.world.worker, "records", "toys/chat"),
        mark(files(), slow, log, "records", 2),
        slow(scene.world.executor, 99) {
    recorder.keep(mark);
    EXPECT_TRUE(recorder.open().ok());
  }

  base::sim::SimFiles& files() { return scene.world.files; }
  trajectory::TurnPtr add(TurnRequest request, const std::string& said) {
    auto turn = scene.recorded(std::move(request), said + "<|im_end|>");
    log.committed.push_back(turn);
    recorder.committing(turn->session_id);
    scene.run(recorder.committed(scene.world.executor, turn, store::SessionUse::kExisting));
    return turn;
  }
  trajectory::TurnPtr first(std::string session = Scene::kSession) {
    auto request = Scene::request({chat::testing::user("1")});
    request.session_id = std::move(session);
    return add(std::move(request), "a");
  }
  void commit_without_line(std::string session) {
    auto request = Scene::request({chat::testing::user("1")});
    request.session_id = std::move(session);
    log.committed.push_back(scene.recorded(std::move(request), "a<|im_end|>"));
  }
  trajectory::TurnPtr next(const trajectory::TurnPtr& turn, const std::string& said = "b") {
    return add(Scene::continued(turn, chat::testing::user("more")), said);
  }
  // A root, a line behind it, a sibling, another root: every value of prefix_stable.
  void tell() {
    const auto one = first();
    const auto two = next(one);
    next(two, "c \"turn\":\"7\"");
    next(one, "d");
    first();
  }
  std::string text(const std::string& session = Scene::kSession) {
    const auto read = files().read("records/" + session + ".jsonl", 1 << 24);
    return read ? *read : "";
  }
  void set_text(const std::string& text, const std::string& session = Scene::kSession) {
    ASSERT_TRUE(files().replace("records/" + session + ".jsonl", text).ok());
  }
  RecordRepair repair() {
    const RecordFolder folder{files(), "records", "toys/chat"};
    const auto done = repair_records(folder, log, mark, nullptr);
    EXPECT_TRUE(done.ok()) << (done ? "" : done.error().message);
    return done ? *done : RecordRepair();
  }
  void forget_mark() { (void)files().remove("records/" + log.name + ".mark"); }
  std::uint64_t marked() { return mark.read()->number; }

  Scene scene;
  ListedLog log;
  Recorder recorder;
  RecordMark mark;
  base::sim::SimWorker slow;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

}  // namespace verbatim::gateway::testing
