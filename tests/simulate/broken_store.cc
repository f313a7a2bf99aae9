#include "simulate/broken_store.h"

#include "base/timer.h"
#include "simulate/plumbing.h"

namespace verbatim::simulate {

using base::Result;
using base::Task;

namespace {

constexpr unsigned kBrokenCalls = 50;  // in thousandths
constexpr double kLogprobStep = 1.0 / 8192;
constexpr base::Duration kLate = std::chrono::milliseconds(300);

// Another answer to the history that `turn` has as its parent.
store::TurnPtr sibling_of_parent(const store::Turn& turn,
                                 const std::vector<store::TurnPtr>& others) {
  for (const auto& other : others) {
    if (turn.parent && other != turn.parent && other->parent == turn.parent->parent) return other;
  }
  return nullptr;
}

// What a caller sees of a turn that was not kept.
store::TurnPtr copy_of(const store::Turn& turn) {
  auto copy = std::make_shared<store::Turn>();
  copy->id = turn.id;
  copy->seq = 1;
  copy->branch = turn.id;
  copy->choice = turn.choice;
  copy->session_id = turn.session_id;
  copy->parent = turn.parent;
  copy->root = turn.root;
  copy->messages = turn.messages;
  copy->answer = turn.answer;
  copy->message_count = turn.message_count;
  copy->prompt = turn.prompt;
  copy->spans = turn.spans;
  copy->completion = turn.completion;
  copy->logprobs = turn.logprobs;
  copy->row_size = turn.row_size;
  copy->finish = turn.finish;
  copy->sampling = turn.sampling;
  copy->request_id = turn.request_id;
  copy->completion_id = turn.completion_id;
  trajectory::join_path(*copy);
  return copy;
}

}  // namespace

Task<void> BrokenStore::commit_late(store::NewTurns added) {
  co_await base::sleep_for(executor_, kLate);
  (void)co_await inner_.commit(std::move(added));
}

Task<Result<std::vector<store::TurnPtr>>> BrokenStore::commit(store::NewTurns added) {
  if (how_ == Break::kNone || !random_.chance(kBrokenCalls))
    co_return co_await inner_.commit(std::move(added));
  auto& turn = added.turns.front();
  switch (how_) {
    case Break::kCommitAfterAnswer: {
      std::vector<store::TurnPtr> answers;
      for (const auto& each : added.turns) answers.push_back(copy_of(*each));
      base::spawn(commit_late(std::move(added)));
      co_return answers;
    }
    case Break::kLostVersion:
      ++lost_[turn->session_id];
      break;
    case Break::kWrongLogprob:
      if (!turn->logprobs.empty()) turn->logprobs.back() -= kLogprobStep;
      break;
    case Break::kStaleParent:
      if (const auto others = at_once(inner_.turns(turn->session_id)))
        if (auto sibling = sibling_of_parent(*turn, *others)) turn->parent = std::move(sibling);
      break;
    case Break::kSharedChoice: {
      auto recorded = co_await inner_.commit(std::move(added));
      if (recorded && recorded->size() > 1) recorded->back() = recorded->front();
      co_return recorded;
    }
    default:
      break;
  }
  co_return co_await inner_.commit(std::move(added));
}

Task<Result<std::optional<store::SessionInfo>>> BrokenStore::session(std::string id) {
  auto info = co_await inner_.session(id);
  const auto lost = lost_.find(id);
  if (info && *info && lost != lost_.end()) (*info)->version -= lost->second;
  co_return info;
}

}  // namespace verbatim::simulate
