#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace verbatim::gateway {

// The body of GET /sessions/{id}: {session_id, session, report, records, metadata}. Records are the
// turns from the root to the one committed last, each with the request and response an engine would
// have seen, rebuilt from the tree. Where they would be more than some 64 MiB, the first are not
// there, and records_left_out says how many. metadata.accumulated_token_ids is the last row,
// metadata.tree lists every turn of the session, and its leaves; their paths where these have no
// more than a million steps. `session` says what it was made with and what it has used up, `report`
// how its requests found their places.
std::string session_view(const store::SessionInfo& session,
                         const std::vector<store::TurnPtr>& turns, unsigned max_trim);

// The body of GET /sessions/{id}/tree: how each turn found its place, without ids and messages;
// `report` sums it up.
std::string session_tree(const store::SessionInfo& session,
                         const std::vector<store::TurnPtr>& turns);

// The body of GET /sessions: a page of them; `more` follow.
std::string session_list(const std::vector<store::SessionInfo>& sessions, bool more);

}  // namespace verbatim::gateway
