#include <algorithm>

#include "store/rules.h"
#include "store/sqlite/tables.h"

// How sessions end: deleted, expired, or dropped for want of room.
namespace verbatim::store::sqlite {

using base::Status;

Status Tables::expire(const std::string& id, std::int64_t before_ms, std::int64_t now_ms,
                      std::optional<bool>& result) {
  std::optional<SessionRow> session;
  if (auto status = find_session(id, session); !status.ok()) return status;
  result = session && session->info.last_used_ms < before_ms;
  if (!*result) return {};
  if (auto status = erase_session(*session); !status.ok()) return status;
  return note_end(*session, CommitLog::Ended::Why::kExpired, now_ms);
}

Status Tables::erase(const std::string& id, std::int64_t now_ms, std::optional<Status>& result) {
  std::optional<SessionRow> session;
  if (auto status = find_session(id, session); !status.ok()) return status;
  if (!session) {
    result = no_session(id);
    return {};
  }
  result = Status();
  if (auto status = erase_session(*session); !status.ok()) return status;
  return note_end(*session, CommitLog::Ended::Why::kDeleted, now_ms);
}

// One without turns has left no trace that has to end.
Status Tables::note_end(const SessionRow& session, CommitLog::Ended::Why why, std::int64_t now_ms) {
  if (limits_.ended == nullptr || session.info.turns == 0) return {};
  forget_ends_.bind(1, stored(limits_.ended->load()));
  if (auto status = forget_ends_.run(); !status.ok()) return status;
  note_end_.bind_text(1, session.info.spec->id);
  note_end_.bind(2, stored(session.info.turns));
  note_end_.bind(3, why == CommitLog::Ended::Why::kDeleted ? 0 : 1);
  note_end_.bind(4, now_ms);
  return note_end_.run();
}

Status Tables::erase_session(const SessionRow& session) {
  const std::int64_t number = stored(session.info.number);
  if (auto status = erase_unused_roots(number); !status.ok()) return status;
  if (auto status = responses_.erase_of(session.info.number); !status.ok()) return status;
  if (auto status = conversations_.erase_of(session.info.number); !status.ok()) return status;
  for (auto* erase : {&erase_bodies_, &erase_turns_, &erase_session_}) {
    erase->bind(1, number);
    if (auto status = erase->run(); !status.ok()) return status;
  }
  if (session.info.implicit) count({session.info.spec->owner, session.disk, false});
  const auto own = created_by_.find(session.info.spec->owner);
  if (!session.info.implicit && own != created_by_.end()) --own->second;
  return note_last_commit();
}

Status Tables::erase_response(const std::string& id, ErasedResponse& erased) {
  erased = {};
  std::optional<ResponseRows::Place> place;
  if (auto status = responses_.find(id, place); !status.ok() || !place) return status;
  erased.found = true;
  {
    Use find(find_session_id_);
    find->bind(1, stored(place->session));
    bool there = false;
    if (auto status = any(find, there); !status.ok()) return status;
    if (there) erased.session = find->bytes(0);
  }
  std::optional<SessionRow> session;
  if (auto status = find_session(erased.session, session); !status.ok()) return status;
  if (!session)
    return base::error(base::ErrorKind::kInternal,
                       "a response without its session; the file is "
                       "damaged");
  if (session->info.implicit && place->last) return erase_session(*session);
  if (auto status = responses_.erase(id); !status.ok()) return status;
  ++session->info.version;
  session->disk -= std::min(session->disk, place->bytes);
  if (session->info.implicit) count({session->info.spec->owner, place->bytes, false});
  // Its place among those that leave stays: nothing was committed to it.
  shrink_session_.bind(1, stored(session->info.number));
  shrink_session_.bind(2, stored(session->info.version));
  shrink_session_.bind(3, stored(session->disk));
  if (auto status = shrink_session_.run(); !status.ok()) return status;
  erased.change = Change{std::move(session->info), {}};
  return {};
}

Status Tables::note_last_commit() {
  if (noted_commit_ == last_commit_) return {};
  {
    Use last(last_body_);
    bool there = false;
    if (auto status = any(last, there); !status.ok()) return status;
    if (there && last->integer(0) == last_commit_) return {};
  }
  note_commit_.bind(1, last_commit_);
  noted_commit_ = last_commit_;
  return note_commit_.run();
}

Status Tables::erase_unused_roots(std::int64_t session) {
  std::vector<std::int64_t> roots;
  {
    Use all(roots_of_);
    all->bind(1, session);
    for (bool more = true; more;) {
      if (auto status = any(all, more); !status.ok()) return status;
      if (more) roots.push_back(all->integer(0));
    }
  }
  for (const auto root : roots) {
    unuse_root_.bind(1, root);
    unuse_root_.bind(2, session);
    if (auto status = unuse_root_.run(); !status.ok()) return status;
    Use use(root_used_);
    use->bind(1, root);
    bool used = false;
    if (auto status = any(use, used); !status.ok()) return status;
    if (used) continue;
    erase_root_.bind(1, root);
    if (auto status = erase_root_.run(); !status.ok()) return status;
  }
  return {};
}

// Of the owner who has most; where that is `keep` alone, of the next one.
Status Tables::oldest_implicit(const std::string& keep, std::string& oldest) {
  const auto& owners = implicit_bytes_.by_size();
  for (auto owner = owners.rbegin(); owner != owners.rend(); ++owner) {
    Use find(oldest_implicit_);
    find->bind_text(1, owner->second);
    bool there = false;
    if (auto status = any(find, there); !status.ok()) return status;
    if (there && find->bytes(0) != keep) {
      oldest = find->bytes(0);
      return {};
    }
  }
  return {};
}

Status Tables::shrink(const std::string& keep, std::vector<std::string>& dropped) {
  while (implicit_bytes_.total() > limits_.implicit_bytes) {
    std::string oldest;
    if (auto status = oldest_implicit(keep, oldest); !status.ok()) return status;
    if (oldest.empty()) return {};
    std::optional<SessionRow> session;
    if (auto status = find_session(oldest, session); !status.ok()) return status;
    if (!session) return {};
    if (auto status = erase_session(*session); !status.ok()) return status;
    dropped.push_back(std::move(oldest));
  }
  return {};
}

}  // namespace verbatim::store::sqlite
