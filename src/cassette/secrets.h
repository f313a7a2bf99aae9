#pragma once

#include <string_view>

#include "cassette/cassette.h"
#include "net/http_types.h"

namespace verbatim::cassette {

// What of the headers of a request and of an answer is recorded: fields that say how it is written,
// by an allow-list. Keys, cookies, accounts, addresses, traces and whatever is not known are left
// out: no list of what is personal could be whole.
Pairs request_headers(const net::Headers& headers);
Pairs response_headers(const net::Headers& headers);

// Whether a query parameter holds a secret, by its name: key, token, secret, password, signature,
// alone or behind a word ("api_key", "access-token").
bool is_secret(std::string_view parameter);

}  // namespace verbatim::cassette
