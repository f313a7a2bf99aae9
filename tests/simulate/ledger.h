#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "protocol/chat_reader.h"
#include "simulate/findings.h"
#include "store/store.h"

namespace verbatim::simulate {

// By what a request says that it may be asked once more.
enum class Retry { kNone, kKey, kCount };

// Names a turn: its request, and behind a "/" which of several answers it is.
inline std::string turn_name(const std::string& request_id, std::uint32_t choice) {
  return choice == 0 ? request_id : request_id + "/" + std::to_string(choice);
}

// What an agent asked for, and what it may expect of the record.
struct Asked {
  std::string request_id;  // x-request-id
  std::int64_t seed = 0;   // of sampling: names the request at the engine; one more for each choice
  unsigned choices = 1;
  Retry retry = Retry::kNone;
  std::string group;     // the first request with this body and key; empty: it is asked once
  bool repeats = false;  // says that it is asked once more
  std::string session;   // empty: stateless chat
  std::size_t messages = 0;
  std::string parent;           // name of the turn it continues; empty: a root
  bool may_start_over = false;  // its new messages may not be appendable
  bool stream = false;
  std::string last_text;  // of its last message, where that is the user's
};

// What the agent saw of the answer.
struct Outcome {
  enum class Kind {
    kAnswered,  // whole, with its terminal event
    kRefused,   // an error status
    kFailed,    // an error within the stream
    kBroken,    // the connection did not carry it
    kLeft,      // the agent went away first
  };
  Kind kind = Kind::kBroken;
  int status = 0;
  std::string error;
  std::string code;
  std::vector<protocol::ChatResult> results;  // one per choice
  bool terminal = false;                      // the terminal event was seen, whatever came behind
  base::MonoTime left_at;
};
std::string_view name(Outcome::Kind kind);

// What the store said it did, noted outside of the gateway.
class Ledger {
 public:
  struct Session {
    std::vector<store::TurnPtr> turns;  // acknowledged, in order of their seqs
    std::uint64_t changes = 0;
    std::uint64_t seen_changes = 0;  // at the last look at its version
    std::uint64_t seen_version = 0;
    std::string mode = "tree";
    bool created = false;  // by POST /sessions; else it holds a root of stateless chat
    bool deleted = false;
    bool delete_began = false;  // and was not acknowledged
  };
  struct Request {
    Asked asked;
    bool finished = false;
    Outcome::Kind kind = Outcome::Kind::kBroken;
    base::MonoTime left_at;
    bool commit_began = false;
    std::vector<store::TurnPtr> turns;  // by choice: acknowledged, or found behind a crash
    bool found = false;                 // behind a crash, though its commit had failed
    std::uint64_t life = 0;             // of the gateway, when they were committed
    std::string answer_of;              // the request whose turns its answer told of

    [[nodiscard]] store::TurnPtr turn(std::uint32_t choice = 0) const {
      return choice < turns.size() ? turns[choice] : nullptr;
    }
    void keep(const store::TurnPtr& turn) {
      if (turns.size() <= turn->choice) turns.resize(turn->choice + 1);
      turns[turn->choice] = turn;
    }
  };

  // The turn of that name, or null.
  [[nodiscard]] store::TurnPtr turn_named(const std::string& name) const {
    const auto slash = name.find('/');
    const auto request = requests.find(name.substr(0, slash));
    if (request == requests.end()) return nullptr;
    const bool first = slash == std::string::npos;
    return request->second.turn(
        first ? 0 : static_cast<std::uint32_t>(std::stoul(name.substr(slash + 1))));
  }

  void note_session(const std::string& id) {
    ++changes;
    ++sessions[id].changes;
    sessions[id].created = true;
  }
  void note_deleted(const std::string& id) {
    ++changes;
    sessions[id].deleted = true;
  }
  void note_delete_began(const std::string& id) { sessions[id].delete_began = true; }
  void note_commit_began(const std::string& request_id) {
    requests[request_id].commit_began = true;
  }
  void note_commit(const store::TurnPtr& turn) {
    ++changes;
    auto& session = sessions[turn->session_id];
    ++session.changes;
    // What was committed together may be acknowledged in any order.
    auto place = session.turns.end();
    while (place != session.turns.begin() && (*std::prev(place))->seq > turn->seq) --place;
    session.turns.insert(place, turn);
    auto& request = requests[turn->request_id];
    request.keep(turn);
    request.life = life;
    unchecked.push_back(turn);
  }

  std::uint64_t changes = 0;       // of the whole store
  std::uint64_t acknowledged = 0;  // turns
  std::uint64_t under_way = 0;     // changes that were asked for: they may be on disk already
  std::map<std::string, Session> sessions;
  std::map<std::string, Request> requests;
  std::map<std::string, std::vector<std::string>> groups;  // of requests that may be one
  std::set<std::int64_t> asked_again;                      // seeds of requests sent twice
  std::uint64_t life = 0;                                  // of the gateway: one more at each start
  std::deque<store::TurnPtr> unchecked;
  Counts counts;
};

}  // namespace verbatim::simulate
