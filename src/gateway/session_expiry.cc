#include "gateway/session_expiry.h"

#include <algorithm>

#include "base/gather.h"
#include "base/pause.h"
#include "gateway/record_line.h"

namespace verbatim::gateway {

using base::Task;

namespace {

constexpr base::Duration kOften = std::chrono::seconds(1);
constexpr base::Duration kSeldom = std::chrono::seconds(60);
// Sessions looked at in one call of the store.
constexpr std::size_t kPage = 1000;
// Of them, deleted at one time.
constexpr std::size_t kAtOnce = 64;

}  // namespace

Task<void> SessionExpiry::run(base::CancelSignal& stop) {
  const base::Duration pause = std::clamp(ttl_ / 10, kOften, kSeldom);
  while (!stop.fired()) {
    co_await sweep(stop);
    base::Pause until_next(executor_, pause, stop);
    (void)co_await until_next;
  }
}

Task<void> SessionExpiry::sweep(const base::CancelSignal& stop) {
  const auto ttl_ms = std::chrono::duration_cast<std::chrono::milliseconds>(ttl_).count();
  const std::int64_t before_ms = executor_.clock().wall_ms() - ttl_ms;
  in_use_.forget_before(before_ms);
  store::IdleQuery query;
  query.before_ms = before_ms;
  query.limit = kPage;
  while (!stop.fired()) {
    auto page = co_await store_.idle_sessions(query);
    // A store that can't be read has its own ways to tell; what is idle stays so.
    if (!page) co_return;
    // Together, so that a store on disk writes them together.
    bool failed = false;
    for (std::size_t at = 0; at < page->ids.size() && !failed && !stop.fired();) {
      std::vector<Task<void>> some;
      for (; at < page->ids.size() && some.size() < kAtOnce; ++at)
        some.push_back(expire(std::move(page->ids[at]), before_ms, failed));
      co_await base::gather(std::move(some));
    }
    if (failed || page->last.empty()) co_return;
    query.after = page->last;
  }
}

Task<void> SessionExpiry::expire(std::string id, std::int64_t before_ms, bool& failed) {
  using Became = SessionsInUse::Became;
  const auto info = co_await store_.session(id);
  if (!info || !*info || !in_use_.claim(id, before_ms)) co_return;
  if (recorder_ != nullptr) recorder_->ending(id);
  const auto done = co_await store_.expire_session(id, before_ms);
  if (!done) failed = true;
  const bool gone = done && *done;
  if (gone) ++expired_;
  if (recorder_ != nullptr && gone)
    co_await recorder_->session_ended(executor_, id, kEndExpired, (*info)->turns);
  if (recorder_ != nullptr && !gone) co_await recorder_->not_ended(executor_, id);
  in_use_.settle(id, gone ? Became::kExpired : Became::kKept);
}

}  // namespace verbatim::gateway
