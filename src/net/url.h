#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/stream.h"

namespace verbatim::net {

// A server's address as users write it.
struct Url {
  base::Endpoint endpoint;
  std::string base_path;  // "" or "/v1": no trailing slash, put before a target
};

// "http://host[:port][/base]" or https. Errors name what is wrong: scheme, host, port, user info,
// query or fragment.
base::Result<Url> parse_url(std::string_view text);
// "host:port", IPv6 in brackets, the port left out where it is the scheme's own: for the Host
// field.
std::string host_field(const base::Endpoint& endpoint);
// "http://host:port/base": what parse_url() reads, in one spelling.
std::string url_text(const Url& url);
// "%41" -> "A". Error: a broken escape, or %00.
base::Result<std::string> percent_decode(std::string_view text);

}  // namespace verbatim::net
