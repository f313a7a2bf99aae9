#pragma once

#include "base/random.h"
#include "base/runtime.h"
#include "simulate/ledger.h"
#include "store/testing/forwarding_store.h"

namespace verbatim::simulate {

// A store as a server behind a network is: slow before and behind each call, and now and then not
// there before it. Never lies. Notes in the ledger what was done.
class FaultyStore final : public store::testing::ForwardingStore {
 public:
  FaultyStore(base::Executor& executor, store::Store& inner, Ledger& ledger, std::uint64_t seed,
              unsigned fails)
      : ForwardingStore(inner),
        executor_(executor),
        ledger_(ledger),
        random_(seed),
        fails_(fails) {}

  base::Task<base::Status> create_session(store::SessionSpec spec) override;
  base::Task<base::Result<std::optional<store::SessionInfo>>> session(std::string id) override;
  base::Task<base::Status> delete_session(std::string id) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> turns(std::string session_id) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> commit(store::NewTurns added) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override;
  base::Task<base::Result<std::vector<store::TurnPtr>>> newest(
      const trajectory::Digest& root) override;

 private:
  // Fails in some calls, by `weight` times the usual chance.
  base::Task<base::Status> before(const char* call, unsigned weight);
  base::Task<void> after();
  base::Task<void> pause();

  base::Executor& executor_;
  Ledger& ledger_;
  base::SeededRandom random_;
  unsigned fails_;
};

}  // namespace verbatim::simulate
