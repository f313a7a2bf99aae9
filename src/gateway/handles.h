#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trajectory/digest.h"

namespace verbatim::gateway {

// What a handle stands for: an item of a turn.
struct Handle {
  std::uint64_t turn = 0;
  std::uint8_t item = 0;
  bool operator==(const Handle&) const = default;
};

// Ids of calls as agents see them: a prefix of the protocol, then 24 characters 0-9A-Za-z that hold
// the turn's number (64 bits), the item (8) and a MAC of both and the scope (64), most significant
// bits first. At most 40 characters. Who does not know the key can make none; of another scope (a
// session, an owner's stateless chat) they are none. One per executor; not thread-safe.
class Handles {
 public:
  // `key` is the store's.
  explicit Handles(std::string_view key) : digests_(key) {}

  std::string make(std::string_view prefix, std::string_view scope, const Handle& handle);
  // What `text` stands for in this scope, whatever its prefix; nothing where it is no handle of
  // ours. Whether its turn was ever recorded, only the store knows.
  std::optional<Handle> read(std::string_view text, std::string_view scope);

 private:
  std::uint64_t mac(std::string_view scope, const Handle& handle);

  trajectory::DigestBuilder digests_;
};

}  // namespace verbatim::gateway
