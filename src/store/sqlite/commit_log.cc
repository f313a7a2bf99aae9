#include "store/sqlite/commit_log.h"

#include <algorithm>

#include "base/sha256.h"
#include "store/sqlite/reader.h"

namespace verbatim::store::sqlite {
namespace {

using base::Result;
using base::Status;

// Sessions that are looked up at a time.
constexpr std::size_t kPage = 256;
constexpr std::size_t kDigits = 32;

constexpr const char* kLastEnded =
    "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'ended'), 0)";

class SqliteCommitLog final : public CommitLog {
 public:
  SqliteCommitLog(Connection connection, const std::string& key, EndedNoted& noted)
      : connection_(std::move(connection)),
        noted_(noted),
        id_(base::sha256_hex("the commits of " + key).substr(0, kDigits)) {}

  Status prepare() {
    auto status = connection_.prepare({
        {&body_, "SELECT bytes FROM body WHERE number = ?"},
        {&changed_,
         "SELECT number, id FROM session WHERE number > ? AND newest > ? ORDER BY number LIMIT ?"},
        {&places_, "SELECT seq, parent, id, body FROM turn WHERE session = ? ORDER BY seq"},
        {&ended_,
         "SELECT number, session, turns, why, at_ms FROM ended WHERE number > ? ORDER BY number"},
    });
    if (!status.ok()) return status;
    auto reader = Reader::of(connection_, nullptr);
    if (!reader) return std::move(reader).error();
    reader_ = std::move(*reader);
    return {};
  }

  [[nodiscard]] std::string store_id() const override { return id_; }

  Result<CommitPoint> newest() override {
    const auto number = connection_.integer(kLastCommit);
    if (!number) return number.error();
    // Read behind it: what is committed to a session that has the name of one that ended behind
    // this is behind the point, too.
    const auto ended = connection_.integer(kLastEnded);
    if (!ended) return ended.error();
    auto proof = proof_of(*number);
    if (!proof) return std::move(proof).error();
    return CommitPoint{unstored(*number), std::move(*proof), unstored(*ended)};
  }

  Result<bool> follows(const CommitPoint& point) override {
    const auto number = connection_.integer(kLastCommit);
    if (!number) return number.error();
    const auto ended = connection_.integer(kLastEnded);
    if (!ended) return ended.error();
    if (unstored(*number) < point.number || unstored(*ended) < point.ended) return false;
    const auto proof = proof_of(stored(point.number));
    if (!proof) return proof.error();
    // Its session may have been deleted since.
    return proof->empty() || point.proof.empty() || *proof == point.proof;
  }

  Status each_changed(std::uint64_t number, const Visit& visit) override {
    std::int64_t last = 0;
    for (;;) {
      const auto page = changed_behind(last, number);
      if (!page) return page.error();
      if (page->empty()) return {};
      for (const auto& [session, id] : *page) {
        auto changed = places(session, id, number);
        if (!changed) return std::move(changed).error();
        // Deleted meanwhile, where it has none.
        if (changed->turns.empty()) continue;
        if (auto status = visit(*changed); !status.ok()) return status;
      }
      last = page->back().first;
    }
  }

  Status each_ended(std::uint64_t number, const VisitEnded& visit) override {
    Use rows(ended_);
    rows->bind(1, stored(number));
    for (;;) {
      const auto there = rows->step();
      if (!there) return there.error();
      if (!*there) return {};
      const Ended ended{
          unstored(rows->integer(0)), std::string(rows->bytes(1)), unstored(rows->integer(2)),
          rows->integer(3) == 0 ? Ended::Why::kDeleted : Ended::Why::kExpired, rows->integer(4)};
      if (auto status = visit(ended); !status.ok()) return status;
    }
  }

  void forget_ended(std::uint64_t number) override {
    auto noted = noted_.load();
    while (noted < number && !noted_.compare_exchange_weak(noted, number)) {
    }
  }

  Result<std::vector<TurnPtr>> turns(const std::string& session) override {
    return reader_->turns(session);
  }

  Result<bool> has_session(const std::string& session) override {
    const auto info = reader_->session(session);
    if (!info) return info.error();
    return info->has_value();
  }

 private:
  using Page = std::vector<std::pair<std::int64_t, std::string>>;

  // Empty: there is no such body.
  Result<std::string> proof_of(std::int64_t number) {
    Use body(body_);
    body->bind(1, number);
    const auto there = body->step();
    if (!there) return there.error();
    return *there ? base::sha256_hex(body->bytes(0)).substr(0, kDigits) : std::string();
  }

  Result<Page> changed_behind(std::int64_t session, std::uint64_t number) {
    Page page;
    Use list(changed_);
    list->bind(1, session);
    list->bind(2, stored(number));
    list->bind(3, kPage);
    for (;;) {
      const auto there = list->step();
      if (!there) return there.error();
      if (!*there) return page;
      page.emplace_back(list->integer(0), list->bytes(1));
    }
  }

  Result<Changed> places(std::int64_t session, const std::string& id, std::uint64_t number) {
    Changed changed{id, {}, 0};
    Use rows(places_);
    rows->bind(1, session);
    for (;;) {
      const auto there = rows->step();
      if (!there) return there.error();
      if (!*there) return changed;
      changed.turns.push_back(
          {unstored(rows->integer(0)), unstored(rows->integer(1)), unstored(rows->integer(2))});
      if (changed.first_new == 0 && unstored(rows->integer(3)) > number)
        changed.first_new = changed.turns.back().seq;
    }
  }

  Connection connection_;
  EndedNoted& noted_;
  const std::string id_;
  std::unique_ptr<Reader> reader_;
  Statement body_, changed_, places_, ended_;
};

}  // namespace

Result<std::unique_ptr<CommitLog>> commit_log(Connection connection, const std::string& key,
                                              EndedNoted& noted) {
  auto log = std::make_unique<SqliteCommitLog>(std::move(connection), key, noted);
  if (auto status = log->prepare(); !status.ok()) return std::move(status).error();
  return std::unique_ptr<CommitLog>(std::move(log));
}

}  // namespace verbatim::store::sqlite
