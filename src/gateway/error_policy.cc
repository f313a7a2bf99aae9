#include "gateway/error_policy.h"

#include "net/http_server.h"

namespace verbatim::gateway {

int http_status(const base::Error& error) {
  if (error.upstream) return error.upstream->status;
  switch (error.kind) {
    case base::ErrorKind::kInvalidRequest:
    case base::ErrorKind::kUnsupported:
      return 400;
    case base::ErrorKind::kUnauthorized:
      return 401;
    case base::ErrorKind::kNotFound:
      return 404;
    case base::ErrorKind::kConflict:
      return 409;
    case base::ErrorKind::kTooLarge:
      return 413;
    case base::ErrorKind::kEngine:
      return 502;
    case base::ErrorKind::kUnavailable:
      return 503;
    case base::ErrorKind::kTimeout:
      return 504;
    case base::ErrorKind::kCancelled:
      return 499;
    case base::ErrorKind::kInternal:
      break;
  }
  return 500;
}

base::Error told_end(base::Error error, const base::CancelSignal& gone) {
  if (gone.reason() != net::kShuttingDown) return error;
  auto ended = base::error(base::ErrorKind::kUnavailable,
                           "the gateway was told to end before this answer was whole; send the "
                           "request again");
  ended.code = "shutting_down";
  return ended;
}

}  // namespace verbatim::gateway
