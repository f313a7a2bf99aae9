#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gateway/access.h"
#include "net/http_types.h"
#include "store/store.h"

namespace verbatim::gateway {

// By what a request names its session.
enum class DoorKind : std::size_t {
  kNone,    // stateless chat
  kPath,    // /sessions/{id}/v1
  kSecret,  // the session's own key
  kHeader,  // a header field of the agent
};
inline constexpr std::size_t kDoorKinds = 4;
inline constexpr std::array<std::string_view, kDoorKinds> kDoorKindNames = {"none", "path",
                                                                            "secret", "header"};

// By which a chat request comes in: which session it means.
struct Door {
  DoorKind kind = DoorKind::kNone;
  std::string session_id;  // empty: stateless chat
  store::SessionUse use = store::SessionUse::kExisting;
  std::shared_ptr<const store::SessionSpec> spec;  // kImplicit: what the first commit makes
  std::string owner;
  bool conversation = false;  // the session is that of a conversation, which the request names
};

// Lets a request into the conversation that it names. kInvalidRequest: it is in another session.
base::Status enter_conversation(std::string_view id, Door& door);

// May stand in a header as the name of a session, or in a path as its id: 1 to 200 of the
// characters A-Z a-z 0-9 . _ : ~ @ + = -, and no folder ("." or "..").
bool is_session_name(std::string_view name);

// kNotFound with the remedy; `what` begins the message. Bytes that are no name are not repeated.
base::Error no_session(std::string_view id, std::string_view what = "session not found");

// Header fields by which agents name their session, in the order they are looked at.
// `operators` is the operator's own (--session-header), before all others; empty: none.
//
// Error: kInvalidRequest naming the field, where what it holds is no name.
//
// The session has an id of its own, made of owner, field and name: another owner's session of that
// name is another one, and no id leads out of a folder.
base::Result<Door> door_of_headers(const net::Headers& headers, const Caller& caller,
                                   std::string_view operators, std::int64_t now_ms);

}  // namespace verbatim::gateway
