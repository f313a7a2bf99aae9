#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace verbatim::store {

// What each owner's sessions of stateless chat hold, so that where all together are too much, the
// one who has most gives way: nobody loses a conversation to another who has more.
class OwnerBytes {
 public:
  void add(const std::string& owner, std::uint64_t bytes);
  void remove(const std::string& owner, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // Owners with their bytes, those who have most last.
  using BySize = std::set<std::pair<std::uint64_t, std::string>>;
  [[nodiscard]] const BySize& by_size() const { return by_size_; }

 private:
  void set(std::map<std::string, std::uint64_t>::iterator owner, std::uint64_t bytes);

  std::map<std::string, std::uint64_t> bytes_;
  BySize by_size_;
  std::uint64_t total_ = 0;
};

}  // namespace verbatim::store
