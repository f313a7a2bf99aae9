#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "json/writer.h"
#include "message/message.h"
#include "store/store.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {

// An id of a client's, as far as it may stand in an error.
std::string shown_id(std::string_view id);

// May the response be told of, to an owner, and in a session (empty: wherever it was made)? Null:
// there is none.
bool is_shown(const store::StoredResponse* response, std::string_view owner,
              std::string_view session_id);

// An item of a request as it is listed later: as it came, completed by what clients that read it
// demand, an id first of all.
store::ConversationChange::NewItem stored_item(const std::string& item, base::Random& random);

// Every call of the conversation has its output behind it, and every output its call: those of
// `previous` (null: none), and of what a request adds. kInvalidRequest naming the call.
base::Status check_calls(const trajectory::TurnPtr& previous,
                         std::span<const message::Message> added);

}  // namespace verbatim::gateway
