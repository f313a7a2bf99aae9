#include "store/sqlite/check.h"

#include <unordered_set>

#include "store/sqlite/reader.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

namespace {

constexpr std::uint64_t kTellEach = 1000;

// Rows that must not be: a query that finds them, and what it means.
constexpr std::pair<const char*, const char*> kNone[] = {
    {"SELECT count(*) FROM turn WHERE session NOT IN (SELECT number FROM session)",
     "turns without their session"},
    {"SELECT count(*) FROM body WHERE number NOT IN (SELECT body FROM turn)",
     "bodies without their turn"},
    {"SELECT count(*) FROM turn WHERE body NOT IN (SELECT number FROM body)",
     "turns without their body"},
    {"SELECT count(*) FROM turn WHERE root NOT IN (SELECT number FROM root)",
     "turns without their root"},
    {"SELECT count(*) FROM root WHERE number NOT IN (SELECT root FROM root_use)",
     "roots that no session uses"},
    {"SELECT count(*) FROM (SELECT root, session FROM root_use EXCEPT "
     "SELECT root, session FROM turn)",
     "uses of a root by a session that has no turn below it"},
    {"SELECT count(*) FROM (SELECT root, session FROM turn EXCEPT "
     "SELECT root, session FROM root_use)",
     "turns whose root is not known to be used by their session"},
    {"SELECT count(*) FROM turn WHERE continued <> "
     "((session, seq) IN (SELECT session, parent FROM turn))",
     "turns of which it is not known whether they have a child"},
    {"SELECT count(*) FROM conversation WHERE session NOT IN (SELECT number FROM session)",
     "conversations without their session"},
    {"SELECT count(*) FROM conversation_item WHERE session NOT IN (SELECT session FROM "
     "conversation)",
     "items without their conversation"},
};

class Check {
 public:
  Check(Connection& connection, const std::function<void(std::uint64_t)>& progress)
      : connection_(connection), progress_(progress) {}

  Result<CheckReport> run() {
    if (auto status = structures(); !status.ok()) return std::move(status).error();
    if (!report_.problems.empty()) return std::move(report_);
    for (const auto& [query, what] : kNone) {
      const auto count = connection_.integer(query);
      if (!count) return count.error();
      if (*count != 0) add(std::to_string(*count) + " " + what);
    }
    if (auto status = sessions(); !status.ok()) return std::move(status).error();
    return std::move(report_);
  }

 private:
  void add(std::string problem) {
    if (report_.problems.size() < CheckReport::kMaxProblems)
      report_.problems.push_back(std::move(problem));
  }

  // SQLite says "ok", or one line for each fault.
  Status structures() {
    auto statement = connection_.prepare("PRAGMA integrity_check(100)");
    if (!statement) return std::move(statement).error();
    for (;;) {
      const auto row = statement->step();
      if (!row) {
        add(row.error().message);
        return {};
      }
      if (!*row) return {};
      const std::string line(statement->bytes(0));
      if (line != "ok") add(line);
    }
  }

  Status sessions() {
    auto reader = Reader::of(connection_, nullptr);
    if (!reader) return std::move(reader).error();
    auto status =
        (*reader)->each_session([this](const SessionInfo& info, const Reader::Parts& parts) {
          session(info, parts.turns);
          check_turns_of(info, parts);
          check_conversation(info, parts);
          return Status();
        });
    // A turn that can't be read ends the reading; its error names it.
    if (!status.ok()) add(status.error().message);
    return {};
  }

  void session(const SessionInfo& info, const std::vector<TurnPtr>& turns) {
    ++report_.sessions;
    report_.turns += turns.size();
    std::uint64_t tokens = 0, bytes = 0;
    for (const auto& turn : turns) {
      tokens += added_tokens(*turn);
      bytes += footprint(*turn);
      if (turn->logprobs.size() != turn->completion.size())
        add(place(info, *turn) + std::to_string(turn->completion.size()) + " completion ids and " +
            std::to_string(turn->logprobs.size()) + " logprobs");
    }
    report_.tokens += tokens;
    const std::string name = "session " + info.spec->id + ": ";
    if (info.turns != turns.size())
      add(name + "counts " + std::to_string(info.turns) + " turns and has " +
          std::to_string(turns.size()));
    if (info.tokens != tokens) add(name + "its count of tokens is not that of its turns");
    if (info.bytes != bytes) add(name + "its count of bytes is not that of its turns");
    if (report_.sessions % kTellEach == 0 && progress_) progress_(report_.sessions);
  }

  // What names turns names some that are there.
  void check_turns_of(const SessionInfo& info, const Reader::Parts& parts) {
    std::unordered_set<std::uint64_t> ids;
    for (const auto& turn : parts.turns) ids.insert(turn->id);
    for (const auto& response : parts.responses) {
      if (!ids.contains(response->turn))
        add("response " + response->id + " of session " + info.spec->id +
            ": its turn is not there");
    }
    const auto& conversation = parts.conversation;
    if (conversation && conversation->turn != 0 && !ids.contains(conversation->turn))
      add("conversation " + info.spec->id + ": its turn is not there");
  }

  void check_conversation(const SessionInfo& info, const Reader::Parts& parts) {
    const std::string name = "conversation " + info.spec->id + ": ";
    std::uint64_t bytes = 0;
    for (const auto& item : parts.items) bytes += item->body.size();
    const std::uint64_t last = parts.items.empty() ? 0 : parts.items.back()->seq;
    if (!parts.conversation) {
      if (!parts.items.empty()) add(name + "it has items and is not there itself");
      return;
    }
    const Conversation& conversation = *parts.conversation;
    if (conversation.items != parts.items.size())
      add(name + "counts " + std::to_string(conversation.items) + " items and has " +
          std::to_string(parts.items.size()));
    if (conversation.bytes != bytes) add(name + "its count of bytes is not that of its items");
    if (conversation.last < last || conversation.answered > conversation.last)
      add(name + "the number of its last item is not that of its items");
  }

  static std::string place(const SessionInfo& info, const Turn& turn) {
    return "turn " + std::to_string(turn.seq) + " of session " + info.spec->id + ": ";
  }

  Connection& connection_;
  const std::function<void(std::uint64_t)>& progress_;
  CheckReport report_;
};

}  // namespace

Result<CheckReport> check(Connection& connection,
                          const std::function<void(std::uint64_t sessions)>& progress) {
  return Check(connection, progress).run();
}

}  // namespace verbatim::store::sqlite
