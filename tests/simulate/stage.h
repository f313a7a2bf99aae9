#pragma once

#include "base/runtime.h"
#include "simulate/checks.h"
#include "simulate/ledger.h"
#include "simulate/settings.h"

namespace verbatim::simulate {

// What agents act on: one seed's gateway, seen from outside.
struct Stage {
  base::Runtime& runtime;  // the agents' end of the network
  std::uint16_t port = 0;
  Ledger& ledger;
  Checks& checks;
  Findings& findings;
  std::uint64_t turns_left = 0;
  std::int64_t next_seed = 1;
  Break broken = Break::kNone;
  bool closing = false;      // the gateway is being shut down
  bool forgets = false;      // the store drops old conversations that no one created
  bool by_messages = false;  // ids, and what speaks of them, are not there

  [[nodiscard]] bool more() const { return turns_left > 0 && !closing; }
};

}  // namespace verbatim::simulate
