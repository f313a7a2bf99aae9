#pragma once

#include "base/cancel.h"
#include "base/result.h"

namespace verbatim::gateway {

// The one place that turns an error into what the client gets (docs/design.md 6).
int http_status(const base::Error& error);

// What failed while `gone` may have fired: kUnavailable with what to do where the gateway ended, in
// place of what that led to.
base::Error told_end(base::Error error, const base::CancelSignal& gone);

}  // namespace verbatim::gateway
