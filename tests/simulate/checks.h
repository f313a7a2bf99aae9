#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "base/executor.h"
#include "base/files.h"
#include "base/random.h"
#include "engine/testing/proofs.h"
#include "json/value.h"
#include "sim/sim_engine.h"
#include "simulate/chat_client.h"
#include "simulate/engines.h"
#include "simulate/ledger.h"
#include "simulate/shared_model.h"
#include "store/testing/fault_vfs.h"

namespace verbatim::simulate {

// The invariants of docs/design.md 1, checked from outside: the truth is what the engine received
// and sampled, what the agents saw, and what the store acknowledged; ids of rows are put together
// here again. Stops the program at the first difference.
class Checks {
 public:
  struct Setup {
    const SharedModel& model;
    base::Clock& clock;
    store::Store& store;  // as it is, without delays
    const Engines& engines;
    Ledger& ledger;
    Findings& findings;
    engine::testing::Driven driven;
    std::uint64_t seed = 0;
    bool calm = false;     // no faults: what is legal must succeed
    bool forgets = false;  // the store drops old conversations of stateless chat
    const store::testing::FaultVfs* disk = nullptr;  // of the store, where it has one
  };
  explicit Checks(const Setup& setup);

  // The store at one moment; its dump where it is worth the time.
  struct Look {
    std::uint64_t changes = 0;
    bool still = false;  // no change was under way
    std::optional<std::string> dump;
  };
  Look look();
  // Nothing changed since, unless something else did it.
  void unchanged(std::string_view invariant, const std::string& what, const Look& before);

  // Requests for turns: before one is sent, at its terminal event, behind its end.
  void begins(const Asked& asked);
  void terminal(const Asked& asked, std::uint32_t choice, const protocol::ChatResult& result);
  void finished(const Asked& asked, const Outcome& outcome, const Look& before);
  // Requests that must be refused.
  void refused(const std::string& name, const Reply& reply, int status, const std::string& id,
               const Look& before);
  // Other requests: one of `statuses`, where no fault may have struck.
  void plain(const std::string& name, const Reply& reply, std::initializer_list<int> statuses);
  void created(const std::string& session, const std::string& mode);
  void deleted(const std::string& session, int status);
  void seen_session(const std::string& session, const Reply& reply, const Look& before);

  // At the end, when nothing runs any more.
  struct End {
    bool aborts_arrive = false;  // every client that left had to be noticed at the engine
    base::Duration slack{0};     // within this time
  };
  void at_end(const End& end);
  void records(base::Files& files, const std::string& dir,
               std::optional<std::uint64_t> failed_lines);

  // Nothing has changed since, and nothing was about to.
  [[nodiscard]] bool still(const Look& before) const {
    return !down() && before.still && setup_.ledger.under_way == 0 &&
           before.changes == setup_.ledger.changes;
  }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  void set_closing() { closing_ = true; }
  // The machine has no power: nothing can be looked at.
  [[nodiscard]] bool down() const {
    return down_ || (setup_.disk != nullptr && setup_.disk->off());
  }
  void set_down() {
    down_ = true;
    ++setup_.ledger.changes;
  }
  // What survived is there again: all that was acknowledged, whole. A change that was under way may
  // be there or not, and is taken as it is found.
  void started_again();
  // Whether the engine does, or the gateway has to.
  void set_matches_stop_strings(bool matches) { matches_stop_strings_ = matches; }

 private:
  using Ids = trajectory::TokenIds;
  void step(const std::string& what);
  // Turns that were committed since the last call.
  void check_committed();
  void check_turn(const store::TurnPtr& turn);
  void check_exact(const store::Turn& turn, const Ids& prompt);
  // By messages, see said_checks.cc.
  void check_said(const store::Turn& turn);
  void check_history(const store::Turn& turn, const sim::Served& served);
  // An answer that can't go up again over this protocol.
  [[nodiscard]] bool cannot_go_up(const Outcome& outcome) const;
  void check_prefix(const store::Turn& turn, const Ids& prompt);
  void check_spans(const store::Turn& turn);
  void check_place(const store::Turn& turn);
  // In a session of one line behind its tip, or in place of that. False: it has many.
  bool check_line(const store::Turn& turn);
  [[nodiscard]] bool hit_by_fault(const Asked& asked, const Outcome& outcome);
  void check_refusal(const Asked& asked, const Outcome& outcome, const Look& before);
  // A session of one line may not take a request: is that what its mode says?
  [[nodiscard]] bool mode_refuses(const Asked& asked, const Outcome& outcome, const Look& before);
  void check_answer(const store::Turn& turn, const protocol::ChatResult& result);
  void check_usage(const std::vector<store::TurnPtr>& turns, const message::Usage& usage);
  void check_whole_answer(const Asked& asked, const Outcome& outcome);
  // Requests that may be one, see repeat_checks.cc.
  // The turn that an answer tells of: of the request itself, or of one that it repeats.
  store::TurnPtr told(const Asked& asked, std::uint32_t choice, const std::string& id);
  // A key samples once.
  void check_repeats(const store::Turn& turn);
  // Whether nobody waits for the request any more, and since when.
  [[nodiscard]] std::optional<base::MonoTime> abandoned(const Ledger::Request& request) const;
  void check_version(const std::string& session);
  void check_store();
  void find_session(const std::string& id, Ledger::Session& session);
  void check_session(const std::string& id, const Ledger::Session& session);
  void check_aborts(const End& end);
  // Whether it has its end.
  bool check_record_file(const std::string& name, const std::string& text);
  void check_record(const std::string& session, const json::Value& line,
                    std::map<std::uint64_t, bool>& indexes);
  // Deleted, or forgotten where the store may forget.
  [[nodiscard]] bool gone(const std::string& session) const;
  [[nodiscard]] bool in_store(const store::Turn& turn) const;
  // May a turn be made of it?
  [[nodiscard]] bool good(const sim::Served& served, bool cut) const;
  [[nodiscard]] bool diverged(const store::Turn& turn) const;
  [[nodiscard]] std::string served_with(std::int64_t seed);
  // What engines did for a request.
  [[nodiscard]] std::vector<const sim::Served*> generations(const Asked& asked);
  // A fault of the engine that makes a client see `status`.
  [[nodiscard]] bool engine_said(const Asked& asked, int status);
  // Behind it an answer is still good.
  [[nodiscard]] bool harmless(sim::Fault fault) const {
    return proof_of(setup_.driven, fault)->verdict != engine::testing::Proof::Verdict::kError;
  }
  // Whether the gateway ended the turn itself, at a stop string that the engine does not know of.
  [[nodiscard]] bool cut_at_stop(const store::Turn& turn) const;
  void index_served();
  void index(const sim::Served& entry, std::size_t replica);
  void check(bool holds, std::string_view invariant, const std::string& expected,
             const std::string& found) {
    if (!holds) setup_.findings.fail(invariant, expected, found);
  }

  Setup setup_;
  base::SeededRandom random_;
  std::uint64_t steps_ = 0;
  bool closing_ = false;
  bool down_ = false;
  bool matches_stop_strings_ = true;
  std::vector<std::size_t> indexed_;  // of each process
  std::map<std::int64_t, std::vector<const sim::Served*>> by_seed_;
  std::map<std::int64_t, std::size_t> sampler_;      // the replica that may have sampled it
  std::map<std::uint64_t, store::TurnPtr> by_turn_;  // acknowledged and checked
  std::map<std::string, std::uint64_t> lines_;       // record lines by session
};

// All ids from the root to the end of the prompt, put together from what each turn holds.
trajectory::TokenIds prompt_ids(const store::Turn& turn);

}  // namespace verbatim::simulate
