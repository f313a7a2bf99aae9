#include "engine/pool/stickiness.h"

namespace verbatim::engine::pool {

std::size_t Stickiness::find(std::string_view key) const {
  const auto at = by_key_.find(key);
  return at == by_key_.end() ? kNone : at->second->replica;
}

void Stickiness::set(std::string_view key, std::size_t replica) {
  if (capacity_ == 0) return;
  if (const auto at = by_key_.find(key); at != by_key_.end()) {
    at->second->replica = replica;
    entries_.splice(entries_.begin(), entries_, at->second);
    return;
  }
  if (entries_.size() == capacity_) {
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({std::string(key), replica});
  by_key_.emplace(entries_.front().key, entries_.begin());
}

}  // namespace verbatim::engine::pool
