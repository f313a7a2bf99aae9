#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

namespace verbatim::engine::pool {

// Which replica a conversation was given to last, for the conversations used last: at most
// `capacity`, about 200 bytes each with a key of 32 characters.
class Stickiness {
 public:
  explicit Stickiness(std::size_t capacity) : capacity_(capacity) {}
  Stickiness(const Stickiness&) = delete;

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  // The replica's number, or kNone.
  [[nodiscard]] std::size_t find(std::string_view key) const;
  // Forgets the conversation that was not used for the longest time when there is no room.
  void set(std::string_view key, std::size_t replica);
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    std::size_t replica;
  };
  const std::size_t capacity_;
  std::list<Entry> entries_;  // the one used last is the first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_key_;
};

}  // namespace verbatim::engine::pool
