#pragma once

#include <string_view>
#include <vector>

#include "net/http_types.h"

namespace verbatim::net {

// Tells which header fields of a message go beyond the connection it came over. Left behind are
// hop-by-hop fields (RFC 9110 7.6.1, and those of older practice), the fields that a Connection
// field of the message names, and the framing, which whoever sends the message on writes himself.
// Life: as long as `headers` stays unchanged.
class EndToEnd {
 public:
  explicit EndToEnd(const Headers& headers);

  [[nodiscard]] bool has(std::string_view name) const;

 private:
  std::vector<std::string_view> named_;  // by Connection fields
};

}  // namespace verbatim::net
