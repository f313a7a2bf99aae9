#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/log.h"
#include "engine/kinds.h"

namespace verbatim::cli {

struct RelayOptions {
  std::string host;
  std::uint16_t port = 0;
  unsigned threads = 0;  // 0: one per core
  std::string version;   // of this program
};

// The choice says a relay.
bool relays(const engine::Choice& choice);
// The choice says the message path; where its kind is not known yet, what its mode is there.
bool by_messages(const engine::Choice& choice);
// What to say of an engine that is driven by ids where no tokenizer was given.
std::string needs_tokenizer(const engine::Choice& choice);

// `verbatim serve` without a tokenizer: relays messages to an engine of such a kind, or to one that
// shows itself as none that is driven by ids. `token_option` is an option that was given and that
// only the token path knows, null for none: it is refused, as
// are an engine that needs a tokenizer and more than one server.
Exit serve_relay(const std::vector<engine::Choice>& asked, const RelayOptions& options,
                 const char* token_option, Log& log);

}  // namespace verbatim::cli
