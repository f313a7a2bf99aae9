#include "engine/messages/testing/proofs.h"

#include <array>

namespace verbatim::engine::messages::testing {
namespace {

using engine::testing::malformed_at;
using engine::testing::no_such;
using engine::testing::refused;
using sim::Fault;

// The fields are the server's, not the request's: the message names them.
constexpr std::array kProofs = {
    malformed_at(Fault::kNullFinish, ""),
    malformed_at(Fault::kUnknownFinish, ""),
    malformed_at(Fault::kAbort, ""),
    // Of one choice, which only chat numbers.
    no_such(Fault::kWrongIndex),
    refused(Fault::kErrorBody, 502, "engine_error"),
    refused(Fault::kErrorEvent, 502, "engine_error"),
    refused(Fault::kHttp529, 529),
};

constexpr std::array kChat = {
    malformed_at(Fault::kWrongIndex, ""),
};

}  // namespace

std::span<const engine::testing::Proof> proofs() {
  return kProofs;
}

std::span<const engine::testing::Proof> proofs_of_wire(protocol::Wire wire) {
  if (wire == protocol::Wire::kChat) return kChat;
  return {};
}

}  // namespace verbatim::engine::messages::testing
