#include "store/owner_shares.h"

#include <algorithm>

namespace verbatim::store {

OwnerShares::OwnerShares(std::uint64_t limit, std::uint64_t owners)
    : own_(limit / 2 / std::max<std::uint64_t>(owners, 1)),
      common_(limit - own_ * std::max<std::uint64_t>(owners, 1)) {}

std::uint64_t OwnerShares::beyond_own(std::uint64_t amount) const {
  return amount > own_ ? amount - own_ : 0;
}

void OwnerShares::add(const std::string& owner, std::uint64_t amount) {
  auto& has = amounts_[owner];
  common_used_ += beyond_own(has + amount) - beyond_own(has);
  has += amount;
  total_ += amount;
}

void OwnerShares::remove(const std::string& owner, std::uint64_t amount) {
  const auto has = amounts_.find(owner);
  if (has == amounts_.end()) return;
  amount = std::min(amount, has->second);
  common_used_ -= beyond_own(has->second) - beyond_own(has->second - amount);
  has->second -= amount;
  total_ -= amount;
  if (has->second == 0) amounts_.erase(has);
}

std::uint64_t OwnerShares::of(const std::string& owner) const {
  const auto has = amounts_.find(owner);
  return has == amounts_.end() ? 0 : has->second;
}

bool OwnerShares::full(const std::string& owner) const {
  return of(owner) >= own_ && common_used_ >= common_;
}

}  // namespace verbatim::store
