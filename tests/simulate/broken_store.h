#pragma once

#include <map>

#include "base/random.h"
#include "base/runtime.h"
#include "simulate/settings.h"
#include "store/store.h"

namespace verbatim::simulate {

// A store with one deliberate bug; kNone has none. The checks must see it.
class BrokenStore final : public store::Store {
 public:
  BrokenStore(base::Executor& executor, store::Store& inner, Break how, std::uint64_t seed)
      : executor_(executor), inner_(inner), how_(how), random_(seed) {}

  base::Task<base::Status> create_session(std::string id, std::int64_t now_ms) override {
    return inner_.create_session(std::move(id), now_ms);
  }
  base::Task<base::Result<std::optional<store::SessionInfo>>> session(std::string id) override;
  base::Task<base::Status> delete_session(std::string id) override {
    return inner_.delete_session(std::move(id));
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> turns(std::string session_id) override {
    return inner_.turns(std::move(session_id));
  }
  base::Task<base::Result<store::TurnPtr>> commit(std::unique_ptr<store::Turn> turn,
                                                  store::SessionUse use) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override {
    return inner_.find(digests);
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> newest(
      const trajectory::Digest& root) override {
    return inner_.newest(root);
  }
  [[nodiscard]] std::string dump() const override { return inner_.dump(); }

 private:
  base::Task<void> commit_late(std::unique_ptr<store::Turn> turn, store::SessionUse use);

  base::Executor& executor_;
  store::Store& inner_;
  Break how_;
  base::SeededRandom random_;
  std::map<std::string, std::uint64_t> lost_;  // versions by session
};

}  // namespace verbatim::simulate
