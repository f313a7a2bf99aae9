#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "store/testing/store_stage.h"

namespace verbatim::store::testing {

// What a store has to hold, in the plainest form: written from store.h, not from any store.
class StoreModel {
 public:
  struct Kept {
    TurnPtr turn;  // as the store returned it
    std::uint64_t parent = 0;
    trajectory::Digest digest;
  };
  struct Session {
    SessionSpec spec;
    std::uint64_t number = 0;
    bool implicit = false;
    std::uint64_t version = 1;
    std::vector<Kept> turns;
  };
  enum class Outcome { kDone, kConflict, kNotFound };

  Outcome create(const SessionSpec& spec);
  Outcome erase(const std::string& id);
  // What a commit of turns to a session, below a parent, has to come to. Numbers of sessions are
  // the store's to give: that of an implicit one is looked up later.
  [[nodiscard]] Outcome outcome(const std::string& session, const std::vector<std::uint64_t>& ids,
                                std::uint64_t parent, SessionUse use) const;
  void commit(const std::string& session, const std::vector<TurnPtr>& turns,
              const std::vector<Kept>& kept, bool implicit);

  // Everything that can be asked of the store is as it is here: all of it; with `deep`, the paths.
  // Empty, or what differs.
  std::string compare(StoreStage& stage, base::Random& random) const;

  [[nodiscard]] const std::map<std::string, Session>& sessions() const { return sessions_; }

 private:
  [[nodiscard]] const Kept* find(std::uint64_t id) const;
  std::string compare_session(StoreStage& stage, const Session& session) const;
  std::string compare_branches(const Session& session) const;
  std::string compare_lists(StoreStage& stage) const;
  std::string compare_look_ups(StoreStage& stage, base::Random& random) const;

  std::map<std::string, Session> sessions_;
};

}  // namespace verbatim::store::testing
