#include "gateway/turn_report.h"

namespace verbatim::gateway {

using base::ErrorKind;

TurnOutcome outcome_of(const base::Error& error) {
  if (error.upstream) return TurnOutcome::kEngineError;
  switch (error.kind) {
    case ErrorKind::kInvalidRequest:
    case ErrorKind::kUnauthorized:
    case ErrorKind::kNotFound:
    case ErrorKind::kConflict:
    case ErrorKind::kTooLarge:
    case ErrorKind::kUnsupported:
      return TurnOutcome::kRefused;
    case ErrorKind::kEngine:
      return TurnOutcome::kEngineError;
    case ErrorKind::kUnavailable:
      return TurnOutcome::kUnavailable;
    case ErrorKind::kTimeout:
      return TurnOutcome::kTimeout;
    case ErrorKind::kCancelled:
      return TurnOutcome::kAborted;
    case ErrorKind::kInternal:
      break;
  }
  return TurnOutcome::kError;
}

}  // namespace verbatim::gateway
