#include <algorithm>

#include "engine/pool/replica.h"

namespace verbatim::engine::pool {

// Busy replicas count where no other is left, unless `busy` says that they never do.
Pool::Replica* Pool::choose(const Belongs& request, const Tried& tried, Busy busy) {
  std::vector<Replica*> idle;
  std::vector<Replica*> any;
  for (const auto& replica : replicas_) {
    if (!replica->health.serving() || replica->draining || tried.contains(replica->number))
      continue;
    any.push_back(replica.get());
    if (!replica->health.busy(now())) idle.push_back(replica.get());
  }
  const auto& among = idle.empty() && busy == Busy::kIfNoOther ? any : idle;
  if (among.empty()) return nullptr;
  Replica* chosen = nullptr;
  for (Replica* known : {holder_of_conversation(request), sampler_of_last_turn(request)}) {
    if (std::find(among.begin(), among.end(), known) != among.end()) chosen = known;
  }
  if (chosen == nullptr) chosen = least_loaded(among);
  if (!request.routing_key.empty()) conversations_.set(request.routing_key, chosen->number);
  return chosen;
}

Pool::Replica* Pool::sampler_of_last_turn(const Belongs& request) const {
  for (const auto& replica : replicas_) {
    if (replica->url == request.last_engine_url) return replica.get();
  }
  return nullptr;
}

Pool::Replica* Pool::holder_of_conversation(const Belongs& request) const {
  const std::size_t number = conversations_.find(request.routing_key);
  return number == Stickiness::kNone ? nullptr : replicas_[number].get();
}

Pool::Replica* Pool::least_loaded(const std::vector<Replica*>& among) {
  const auto by_turns = [this](const Replica& replica) {
    return (replica.number + replicas_.size() - turn_) % replicas_.size();
  };
  Replica* least = *std::min_element(among.begin(), among.end(), [&](Replica* a, Replica* b) {
    return std::pair(a->running, by_turns(*a)) < std::pair(b->running, by_turns(*b));
  });
  turn_ = (least->number + 1) % replicas_.size();
  return least;
}

}  // namespace verbatim::engine::pool
