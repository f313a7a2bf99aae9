#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace verbatim::store {

// What every kind of store does alike: the words of its errors, and how a turn is entered into its
// session.
base::Error no_session(const std::string& id);
base::Error session_exists(const std::string& id);
base::Error secret_taken();
base::Error turn_exists();
base::Error owner_is_full(std::uint64_t limit);

// Has an implicit session room for turns? kInvalidRequest with code session_limit.
base::Status check_implicit(const SessionInfo& info, std::uint64_t limit);

// Bytes of memory that what a session is made with takes, about.
std::size_t footprint(const SessionSpec& spec);

std::size_t footprint(const StoredResponse& response);

// What the first commit makes a session with.
std::shared_ptr<const SessionSpec> implicit_spec(const NewTurns& added);

// Gives a turn its `seq` and `branch`, and counts it. `goes_on`: the branch of its parent, where it
// is the first child; else the turn begins a branch, which has its id.
void enter(SessionInfo& session, Turn& turn, std::optional<std::uint64_t> goes_on);

}  // namespace verbatim::store
