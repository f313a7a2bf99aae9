#pragma once

#include <string_view>

#include "net/http_types.h"

namespace verbatim::gateway {

// What of a client's request goes up with the engine request: the trace context (traceparent,
// tracestate: W3C Trace Context; baggage: W3C Baggage), where it fits into 8 KiB a name, and the
// turn's request id as x-request-id. Nothing else: credentials of clients are not for engines.
net::Headers headers_for_engine(const net::Headers& client, std::string_view request_id);

}  // namespace verbatim::gateway
