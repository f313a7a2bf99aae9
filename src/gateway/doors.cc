#include "gateway/doors.h"

#include <algorithm>
#include <array>

#include "base/sha256.h"
#include "json/writer.h"

namespace verbatim::gateway {

namespace {

constexpr std::size_t kMaxName = 200;
constexpr std::size_t kIdDigits = 32;

// Claude Code; Codex, whose thread ids differ where one session has several; opencode and others.
constexpr std::array<std::string_view, 4> kHeaders{"x-claude-code-session-id", "session-id",
                                                   "thread-id", "x-session-id"};

bool may_stand(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("._:~@+=-").find(c) != std::string_view::npos;
}

base::Status check_name(std::string_view header, std::string_view name) {
  if (is_session_name(name)) return {};
  return base::invalid(std::string(header),
                       "expected a session's name of 1 to " + std::to_string(kMaxName) +
                           " characters out of A-Z a-z 0-9 . _ : ~ @ + = -, found " +
                           std::to_string(name.size()) + " bytes" +
                           (name.size() > kMaxName ? "" : " with another one among them"));
}

Door door_named(std::string_view header, std::string_view name, const Caller& caller,
                std::int64_t now_ms) {
  json::Writer key;
  key.begin_array().string(caller.owner).string(header).string(name).end_array();
  Door door;
  door.kind = DoorKind::kHeader;
  door.session_id = base::sha256_hex(key.text()).substr(0, kIdDigits);
  door.use = store::SessionUse::kImplicit;
  door.owner = caller.owner;
  auto spec = std::make_shared<store::SessionSpec>(door.session_id, now_ms);
  spec->owner = caller.owner;
  json::Writer metadata;
  metadata.begin_object().field("header", header).field("name", name).end_object();
  spec->metadata = metadata.take();
  door.spec = std::move(spec);
  return door;
}

}  // namespace

base::Status enter_conversation(std::string_view id, Door& door) {
  if (!door.session_id.empty() && door.session_id != id)
    return base::invalid("conversation",
                         "this request is in a session already, by its path, its key or a header "
                         "field, and a conversation is one of its own: leave one of the two out");
  door.session_id = id;
  door.use = store::SessionUse::kExisting;
  door.spec = nullptr;
  door.conversation = true;
  return {};
}

bool is_session_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), may_stand);
}

base::Error no_session(std::string_view id, std::string_view what) {
  std::string message(what);
  if (is_session_name(id)) message.append(": session_id=").append(id);
  return base::error(base::ErrorKind::kNotFound, message + "; POST /sessions starts a new one");
}

base::Result<Door> door_of_headers(const net::Headers& headers, const Caller& caller,
                                   std::string_view operators, std::int64_t now_ms) {
  const auto named = [&](std::string_view header) -> base::Result<Door> {
    const std::string_view name = headers.find(header);
    if (auto status = check_name(header, name); !status.ok()) return std::move(status).error();
    return door_named(header, name, caller, now_ms);
  };
  if (!operators.empty() && headers.has(operators)) return named(operators);
  for (const auto header : kHeaders) {
    if (headers.has(header)) return named(header);
  }
  Door stateless;
  stateless.use = store::SessionUse::kImplicit;
  stateless.owner = caller.owner;
  return stateless;
}

}  // namespace verbatim::gateway
