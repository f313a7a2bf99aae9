#pragma once

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "gateway/access.h"

namespace verbatim::cli {

// Who may reach a server, and with what.

// The keys in the file at `path`; empty: none. Errors name the file and line, never a key.
base::Result<gateway::ApiKeys> read_keys(base::Files& files, const std::string& path);

struct Exposure {
  std::string host;
  bool has_keys = false;
  bool no_auth = false;
};
// Without keys only loopback addresses are served, unless the operator says otherwise. Error: the
// remedy.
base::Status check_exposure(const Exposure& exposure);

// The operator's own session header is a header field's name, and none that means something else.
base::Status check_session_header(const std::string& name);

}  // namespace verbatim::cli
