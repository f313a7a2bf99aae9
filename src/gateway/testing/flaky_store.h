#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "base/timer.h"
#include "store/memory_store.h"
#include "store/testing/forwarding_store.h"

namespace verbatim::gateway::testing {

struct KeptStore {
  store::MemoryStore kept;
};

// The memory store, with failures and delays as a test says.
class FlakyStore final : private KeptStore, public store::testing::ForwardingStore {
 public:
  explicit FlakyStore(base::Runtime& runtime) : ForwardingStore(kept), runtime_(runtime) {}

  std::optional<base::Error> find_fails;
  std::optional<base::Error> session_fails;
  std::optional<base::Error> commit_fails;  // nothing is changed then
  std::optional<base::Error> takes_none;    // takes_turns() and probe() fail with it
  std::optional<base::Error> expire_fails;  // nothing is changed then
  base::Duration commit_takes{0};           // before it is done
  base::Duration expire_takes{0};           // the same
  base::Duration takes_turns_takes{0};
  int finds = 0;
  int newests = 0;
  int commits = 0;  // begun

  base::Task<base::Result<std::optional<store::SessionInfo>>> session(std::string id) override {
    if (session_fails) co_return *session_fails;
    co_return co_await inner_.session(std::move(id));
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> commit(store::NewTurns added) override {
    ++commits;
    if (commit_takes.count() != 0) co_await base::sleep_for(runtime_.executor, commit_takes);
    if (commit_fails) co_return *commit_fails;
    co_return co_await inner_.commit(std::move(added));
  }
  base::Task<base::Result<bool>> expire_session(std::string id, std::int64_t before_ms) override {
    if (expire_takes.count() != 0) co_await base::sleep_for(runtime_.executor, expire_takes);
    if (expire_fails) co_return *expire_fails;
    co_return co_await inner_.expire_session(std::move(id), before_ms);
  }
  base::Task<base::Status> takes_turns(std::string session_id, store::SessionUse use) override {
    if (takes_turns_takes.count() != 0)
      co_await base::sleep_for(runtime_.executor, takes_turns_takes);
    if (takes_none) co_return *takes_none;
    co_return co_await inner_.takes_turns(std::move(session_id), use);
  }
  base::Task<base::Status> probe() override {
    if (takes_none) co_return *takes_none;
    co_return co_await inner_.probe();
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override {
    ++finds;
    if (find_fails) co_return *find_fails;
    co_return co_await inner_.find(digests);
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> newest(
      const trajectory::Digest& root) override {
    ++newests;
    if (find_fails) co_return *find_fails;
    co_return co_await inner_.newest(root);
  }

 private:
  base::Runtime& runtime_;
};

}  // namespace verbatim::gateway::testing
