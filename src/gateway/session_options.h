#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "gateway/model.h"
#include "gateway/turn_rules.h"
#include "json/value.h"

namespace verbatim::gateway {

// What a session may use up; absent: as much as it likes. Counted where a turn begins, so turns of
// one session that run at the same time may pass a limit together.
struct SessionLimits {
  std::optional<std::uint64_t> turns;
  std::optional<std::uint64_t> tokens;   // ids that turns add: prompts behind the parent, answers
  std::optional<std::uint64_t> bytes;    // of memory its turns hold
  std::optional<std::uint64_t> seconds;  // since it was created
  bool operator==(const SessionLimits&) const = default;
};

// What a session was made with, as the gateway reads it. The store keeps it as text.
struct SessionOptions {
  TurnRules rules;
  std::string client_profile;   // "auto", "none" or a name; empty: as the server has it
  std::string template_kwargs;  // JSON object; in front of what requests say; empty: none
  std::string sampling;         // JSON object of chat parameters that agents can't override
  SessionLimits limits;

  // As text for the store, in one spelling; empty where all is as usual. What options_from_text()
  // reads back.
  [[nodiscard]] std::string text() const;
  bool operator==(const SessionOptions&) const = default;
};

// The body of POST /sessions.
struct SessionRequest {
  SessionOptions options;
  std::string metadata;  // JSON object; empty: none
  bool secret = false;   // the session gets a key of its own
};

// Reads the body of POST /sessions; an empty one asks for nothing. Errors name the option, what was
// found and what is allowed: unknown options and values, and what `model` can't do.
base::Result<SessionRequest> read_session_request(const std::string& body, const Model& model);

// Reads what text() wrote. An error means that it was written by something else.
base::Result<SessionOptions> options_from_text(const std::string& text);

// The request body with the session's sampling and template arguments in it, in place of what the
// client says; `n` is left out, since each choice is an engine request of its own. `body` is an
// object.
base::Result<std::string> with_session_values(const std::string& body,
                                              const SessionOptions& options);

std::string_view name(SessionMode mode);
std::string_view name(Retention retention);

}  // namespace verbatim::gateway
