#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/executor.h"
#include "protocol/chat_reader.h"
#include "simulate/findings.h"
#include "store/store.h"

namespace verbatim::simulate {

// What an agent asked for, and what it may expect of the record.
struct Asked {
  std::string request_id;  // x-request-id
  std::int64_t seed = 0;   // of sampling: names the request at the engine
  std::string session;     // empty: stateless chat
  std::size_t messages = 0;
  std::string parent;           // request id of the turn it continues; empty: a root
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
  protocol::ChatResult result;
  bool terminal = false;  // the terminal event was seen, whatever came behind
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
    store::TurnPtr turn;  // acknowledged, or found behind a crash
    bool found = false;   // behind a crash, though its commit had failed
  };

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
    requests[turn->request_id].turn = turn;
    unchecked.push_back(turn);
  }

  std::uint64_t changes = 0;       // of the whole store
  std::uint64_t acknowledged = 0;  // turns
  std::uint64_t under_way = 0;     // changes that were asked for: they may be on disk already
  std::map<std::string, Session> sessions;
  std::map<std::string, Request> requests;
  std::deque<store::TurnPtr> unchecked;
  Counts counts;
};

}  // namespace verbatim::simulate
