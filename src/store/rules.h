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
base::Error no_conversation(const std::string& id);
base::Error no_item();
base::Error item_exists(const std::string& id);

// Has an implicit session room for turns? kInvalidRequest with code session_limit.
base::Status check_implicit(const SessionInfo& info, std::uint64_t limit);

// Bytes of memory that what a session is made with takes, about.
std::size_t footprint(const SessionSpec& spec);

std::size_t footprint(const StoredResponse& response);
std::size_t footprint(const ConversationItem& item);

// For an item of an answer whose id is taken: what a model said is not lost for it.
std::string another_id(const std::string& id, std::uint64_t seq);

// Does the conversation have the version that the change is of? kConflict.
base::Status check_version(const Conversation& conversation, const ConversationChange& change);
// What a conversation is behind a change: `removed` is the item it takes away, null: none. The
// items that come in get the seqs behind the one added last before.
struct Removed {
  std::uint64_t seq = 0;
  std::uint64_t bytes = 0;  // of its body
};
void enter(Conversation& conversation, const ConversationChange& change, const Removed* removed);

// What the first commit makes a session with.
std::shared_ptr<const SessionSpec> implicit_spec(const NewTurns& added);

// Gives a turn its `seq` and `branch`, and counts it. `goes_on`: the branch of its parent, where it
// is the first child; else the turn begins a branch, which has its id.
void enter(SessionInfo& session, Turn& turn, std::optional<std::uint64_t> goes_on);

}  // namespace verbatim::store
