#pragma once

#include <string>

#include "store/store.h"
#include "trajectory/turn.h"

namespace verbatim::store {

// Appends what is kept of a session beside its turns as one line of text; without times of use.
void append_dump(std::string& out, const SessionInfo& session);
// Appends every recorded field of a turn as one line of text: what Store::dump() is made of, the
// same for all stores.
void append_dump(std::string& out, const trajectory::Turn& turn);
void append_dump(std::string& out, const StoredResponse& response);
void append_dump(std::string& out, const Conversation& conversation);
void append_dump(std::string& out, const ConversationItem& item);

}  // namespace verbatim::store
