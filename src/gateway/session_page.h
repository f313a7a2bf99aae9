#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http_types.h"
#include "store/store.h"

namespace verbatim::gateway {

// GET /sessions/{id} for people: its lines of turns, how each turn attached and why, ids, times,
// and what was said. One page without scripts, pictures or anything from elsewhere.
//
// Whatever stands in a session is text there and can't become markup: it is escaped, and the page's
// policy (page_headers()) lets nothing run, load or be sent, should a mistake slip through.
// `nonce` names the page's one style sheet in that policy: drawn anew for each page.
std::string session_page(const store::SessionInfo& session,
                         const std::vector<store::TurnPtr>& turns, std::string_view nonce);

net::Headers page_headers(std::string_view nonce);

// Whether a client rather reads a page than JSON: its Accept names text/html, and nothing that JSON
// is at least as gladly.
bool prefers_page(std::string_view accept);

}  // namespace verbatim::gateway
