#pragma once

#include <map>

#include "base/random.h"
#include "base/runtime.h"
#include "simulate/settings.h"
#include "store/testing/forwarding_store.h"

namespace verbatim::simulate {

// A store with one deliberate bug; kNone has none. The checks must see it.
class BrokenStore final : public store::testing::ForwardingStore {
 public:
  BrokenStore(base::Executor& executor, store::Store& inner, Break how, std::uint64_t seed)
      : ForwardingStore(inner), executor_(executor), how_(how), random_(seed) {}

  base::Task<base::Result<std::optional<store::SessionInfo>>> session(std::string id) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> commit(store::NewTurns added) override;

 private:
  base::Task<void> commit_late(store::NewTurns added);

  base::Executor& executor_;
  Break how_;
  base::SeededRandom random_;
  std::map<std::string, std::uint64_t> lost_;  // versions by session
};

}  // namespace verbatim::simulate
