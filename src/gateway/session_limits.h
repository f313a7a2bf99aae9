#pragma once

#include "gateway/session_options.h"
#include "store/store.h"

namespace verbatim::gateway {

// What a session has used up where one more request begins.
struct SessionUsed {
  const store::SessionInfo& info;
  std::int64_t now_ms = 0;
  unsigned choices = 1;  // turns that the request would add
};

// Has the session room for the request? kInvalidRequest naming the limit, code session_limit. Of
// tokens it is only checked that some are left: how many the request adds, its plan says.
base::Status check_limits(const SessionLimits& limits, const SessionUsed& used);

}  // namespace verbatim::gateway
