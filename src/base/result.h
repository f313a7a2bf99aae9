#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace verbatim::base {

// What went wrong, by who is at fault and what the caller can do. docs/design.md 6 maps kinds to
// statuses; that mapping lives in one place (gateway/error_policy.h), nothing else turns a kind
// into a number.
enum class ErrorKind {
  kInvalidRequest,  // the caller's request is malformed or breaks a rule
  kUnauthorized,
  kNotFound,
  kConflict,     // two requests collide, or the history can't be continued
  kTooLarge,     // over a limit of size, count or depth
  kUnsupported,  // known, but this build or model can't do it
  kEngine,       // the engine answered an error, or something that can't be trusted
  kUnavailable,  // for now: shutting down, store can't write, no engine
  kTimeout,
  kCancelled,  // the client went away, or the turn was deleted
  kInternal,   // ours; never seen in tests
};

// An engine's answer that is passed through to the client (status, end-to-end headers, body bytes).
struct UpstreamAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// An error as a value. `message` names the field, what was found and what was expected.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  std::string field;  // "messages[2].content"; empty where no field is meant
  std::string code;   // machine word ("context_length_exceeded"); may be empty
  std::shared_ptr<const UpstreamAnswer> upstream;  // set when the engine answered an error itself

  // The same error with `prefix` put before the field: callers add what they know on the way up.
  [[nodiscard]] Error within(std::string_view prefix) && {
    field = field.empty() ? std::string(prefix)
                          : std::string(prefix) + (field.front() == '[' ? "" : ".") + field;
    return std::move(*this);
  }
};

inline Error invalid(std::string field, std::string message) {
  return Error{ErrorKind::kInvalidRequest, std::move(message), std::move(field), {}, {}};
}

inline Error error(ErrorKind kind, std::string message) {
  return Error{kind, std::move(message), {}, {}, {}};
}

// A value or an Error. Reading the side that isn't there is a bug and aborts.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const& { return *failed(); }
  [[nodiscard]] Error&& error() && { return std::move(*const_cast<Error*>(failed())); }

 private:
  T& checked() {
    if (state_.index() != 0) std::abort();
    return *std::get_if<0>(&state_);
  }
  const Error* failed() const {
    if (state_.index() != 1) std::abort();
    return std::get_if<1>(&state_);
  }
  std::variant<T, Error> state_;
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const& {
    if (!error_) std::abort();
    return *error_;
  }
  [[nodiscard]] Error&& error() && {
    if (!error_) std::abort();
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace verbatim::base
