#include "store/owner_bytes.h"

#include <algorithm>

namespace verbatim::store {

void OwnerBytes::set(std::map<std::string, std::uint64_t>::iterator owner, std::uint64_t bytes) {
  by_size_.erase({owner->second, owner->first});
  total_ = total_ - owner->second + bytes;
  owner->second = bytes;
  if (bytes != 0) {
    by_size_.emplace(bytes, owner->first);
  } else {
    bytes_.erase(owner);
  }
}

void OwnerBytes::add(const std::string& owner, std::uint64_t bytes) {
  const auto at = bytes_.try_emplace(owner).first;
  set(at, at->second + bytes);
}

void OwnerBytes::remove(const std::string& owner, std::uint64_t bytes) {
  const auto at = bytes_.find(owner);
  if (at != bytes_.end()) set(at, at->second - std::min(at->second, bytes));
}

}  // namespace verbatim::store
