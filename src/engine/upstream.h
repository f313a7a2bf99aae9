#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"
#include "net/http_types.h"

namespace verbatim::engine {

// Errors that engines report, whatever the kind of engine.

// The error for an answer with an error status: kEngine with the engine's message and its answer
// (status, the end-to-end headers that a client can use, body) in `upstream`. A status below 400 is
// an answer that can't be trusted, and has none.
base::Error upstream_error(int status, const net::Headers& headers, std::string body);

// The error for an error object the engine sent within a good status, in a stream or as a whole
// body. Where it carries an HTTP status in `code` or `status_code`, that becomes the status of
// `upstream`.
base::Error reported_error(const json::Value& body);

// True for {"error": ...} (not null) and {"object": "error", ...}.
bool is_error_body(const json::Value& body);

// Whether an engine (or what stands before it) says in a 429, 503 or 529 that it never began with
// the request: its queue was full, a limit of requests was reached. Such a request may be sent
// elsewhere. A bare 503 says nothing: time-outs of running requests have that status too.
bool refused_unsampled(const base::UpstreamAnswer& answer);

// The engine's own words in an error body: error.message, error, message or detail where that is a
// string; else the start of `body` when it is plain text; else "".
std::string error_message(std::string_view body);

// At most `limit` bytes of `text`, cut between characters, "..." behind a cut.
std::string excerpt(std::string_view text, std::size_t limit = 80);

}  // namespace verbatim::engine
