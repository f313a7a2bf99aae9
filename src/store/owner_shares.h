#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace verbatim::store {

// A bound on what all owners keep together, of which none may take the part of another: half of it
// is shared out among them, the other half is for whoever comes first. For what can't be taken away
// again without a word.
class OwnerShares {
 public:
  // Of so many owners; one alone has all of it.
  OwnerShares(std::uint64_t limit, std::uint64_t owners);

  void add(const std::string& owner, std::uint64_t amount);
  void remove(const std::string& owner, std::uint64_t amount);  // that was added
  // May the owner have no more?
  [[nodiscard]] bool full(const std::string& owner) const;
  [[nodiscard]] std::uint64_t of(const std::string& owner) const;
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  [[nodiscard]] std::uint64_t beyond_own(std::uint64_t amount) const;

  const std::uint64_t own_;     // of each owner
  const std::uint64_t common_;  // of all of them
  std::unordered_map<std::string, std::uint64_t> amounts_;
  std::uint64_t total_ = 0;
  std::uint64_t common_used_ = 0;
};

}  // namespace verbatim::store
