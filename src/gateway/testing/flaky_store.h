#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "base/timer.h"
#include "store/memory_store.h"

namespace verbatim::gateway::testing {

// The memory store, with failures and delays as a test says.
class FlakyStore final : public store::Store {
 public:
  explicit FlakyStore(base::Runtime& runtime) : runtime_(runtime) {}

  std::optional<base::Error> find_fails;
  std::optional<base::Error> session_fails;
  std::optional<base::Error> commit_fails;  // nothing is changed then
  base::Duration commit_takes{0};           // before it is done
  int finds = 0;
  int newests = 0;
  int commits = 0;  // begun

  base::Task<base::Status> create_session(std::string id, std::int64_t now_ms) override {
    return kept_.create_session(std::move(id), now_ms);
  }
  base::Task<base::Result<std::optional<store::SessionInfo>>> session(std::string id) override {
    if (session_fails) co_return *session_fails;
    co_return co_await kept_.session(std::move(id));
  }
  base::Task<base::Status> delete_session(std::string id) override {
    return kept_.delete_session(std::move(id));
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> turns(std::string session_id) override {
    return kept_.turns(std::move(session_id));
  }
  base::Task<base::Result<store::TurnPtr>> commit(std::unique_ptr<store::Turn> turn,
                                                  store::SessionUse use) override {
    ++commits;
    if (commit_takes.count() != 0) co_await base::sleep_for(runtime_.executor, commit_takes);
    if (commit_fails) co_return *commit_fails;
    co_return co_await kept_.commit(std::move(turn), use);
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override {
    ++finds;
    if (find_fails) co_return *find_fails;
    co_return co_await kept_.find(digests);
  }
  base::Task<base::Result<std::vector<store::TurnPtr>>> newest(
      const trajectory::Digest& root) override {
    ++newests;
    if (find_fails) co_return *find_fails;
    co_return co_await kept_.newest(root);
  }
  [[nodiscard]] std::string dump() const override { return kept_.dump(); }

 private:
  base::Runtime& runtime_;
  store::MemoryStore kept_;
};

}  // namespace verbatim::gateway::testing
