#pragma once

#include "base/result.h"

namespace verbatim::gateway {

// The one place that turns an error into what the client gets (docs/design.md 6).
int http_status(const base::Error& error);

}  // namespace verbatim::gateway
