#pragma once

#include <optional>
#include <string_view>

#include "sim/face.h"
#include "sim/openai/wire.h"

namespace verbatim::sim::openai {

// The protocol of a path; nullopt: no conversations are held there.
std::optional<protocol::Wire> wire_at(std::string_view path, const SimOptions& options);

// Answers a POST of a conversation. The arguments live until the task ends.
base::Task<void> converse(SimEngine::Impl& engine, protocol::Wire wire, const Dialect& dialect,
                          const net::Request& request, net::Responder& answer,
                          base::CancelSignal& gone);

}  // namespace verbatim::sim::openai
