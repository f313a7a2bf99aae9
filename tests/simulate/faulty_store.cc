#include "simulate/faulty_store.h"

#include "base/timer.h"

namespace verbatim::simulate {

using base::Result;
using base::Status;
using base::Task;

namespace {
// Calls that are rare fail more often, so that each kind is seen.
constexpr unsigned kOften = 1;
constexpr unsigned kLess = 2;
constexpr unsigned kSeldom = 8;
constexpr unsigned kRarely = 16;
}  // namespace

Task<void> FaultyStore::pause() {
  // Most calls take no time at all, as with a store in memory; then everything behind them follows
  // at once.
  if (random_.chance(600)) co_return;
  const auto ms = static_cast<std::int64_t>(1 + random_.below(15));
  co_await base::sleep_for(executor_, std::chrono::milliseconds(ms));
}

Task<Status> FaultyStore::before(const char* call, unsigned weight) {
  co_await pause();
  if (!random_.chance(fails_ * weight)) co_return Status();
  ++ledger_.counts[std::string("store ") + call];
  co_return base::error(base::ErrorKind::kUnavailable, "the store does not answer");
}

Task<void> FaultyStore::after() {
  return pause();
}

Task<Status> FaultyStore::create_session(store::SessionSpec spec) {
  if (auto status = co_await before("create_session", kSeldom); !status.ok()) co_return status;
  const std::string id = spec.id;
  ++ledger_.under_way;
  auto status = co_await inner_.create_session(std::move(spec));
  --ledger_.under_way;
  if (status.ok()) ledger_.note_session(id);
  co_await after();
  co_return status;
}

Task<Result<std::optional<store::SessionInfo>>> FaultyStore::session(std::string id) {
  if (auto status = co_await before("session", kOften); !status.ok())
    co_return std::move(status).error();
  auto info = co_await inner_.session(id);
  co_await after();
  co_return info;
}

Task<Status> FaultyStore::delete_session(std::string id) {
  if (auto status = co_await before("delete_session", kRarely); !status.ok()) co_return status;
  ledger_.note_delete_began(id);
  ++ledger_.under_way;
  auto status = co_await inner_.delete_session(id);
  --ledger_.under_way;
  if (status.ok()) ledger_.note_deleted(id);
  co_await after();
  co_return status;
}

Task<Result<std::vector<store::TurnPtr>>> FaultyStore::turns(std::string session_id) {
  if (auto status = co_await before("turns", kSeldom); !status.ok())
    co_return std::move(status).error();
  auto turns = co_await inner_.turns(session_id);
  co_await after();
  co_return turns;
}

Task<Result<std::vector<store::TurnPtr>>> FaultyStore::commit(store::NewTurns added) {
  const std::string request_id = added.turns.front()->request_id;
  ledger_.note_commit_began(request_id);
  if (auto status = co_await before("commit", kOften); !status.ok())
    co_return std::move(status).error();
  ++ledger_.under_way;
  auto recorded = co_await inner_.commit(std::move(added));
  --ledger_.under_way;
  if (recorded) {
    for (const auto& turn : *recorded) ledger_.note_commit(turn);
    ledger_.acknowledged += recorded->size();
  }
  co_await after();
  co_return recorded;
}

Task<Result<std::vector<store::TurnPtr>>> FaultyStore::newest(const trajectory::Digest& root) {
  if (auto status = co_await before("newest", kOften); !status.ok())
    co_return std::move(status).error();
  auto found = co_await inner_.newest(root);
  co_await after();
  co_return found;
}

Task<Result<std::vector<store::TurnPtr>>> FaultyStore::find(
    std::span<const trajectory::Digest> digests) {
  if (auto status = co_await before("find", kLess); !status.ok())
    co_return std::move(status).error();
  auto found = co_await inner_.find(digests);
  co_await after();
  co_return found;
}

}  // namespace verbatim::simulate
