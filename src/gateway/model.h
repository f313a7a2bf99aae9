#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "chat/parsers/token_parser.h"
#include "chat/renderer.h"
#include "gateway/client_profiles.h"

namespace verbatim::gateway {

// A served model: how its prompts are made and its answers read. Shared by all threads; what only
// the engine knows is filled in when it answers, the rest is immutable.
struct Model {
  std::string name;        // what /v1/models says and records name
  std::string checkpoint;  // folder of the tokenizer, for records
  // Null where the engine is driven by messages: nothing is rendered or parsed here then.
  std::shared_ptr<const chat::Renderer> renderer;
  std::shared_ptr<const chat::parsers::TokenMarkers> markers;
  std::uint64_t vocab_size = 0;  // the model's: ids from the engine must be below
  // Prompt and completion together; 0: unknown so far. What the engine says, unless an operator
  // does.
  mutable std::atomic<std::uint64_t> max_model_len = 0;
  // How the agents spell that it is served to.
  ClientProfiles profiles;

  [[nodiscard]] bool by_messages() const { return renderer == nullptr; }
};

}  // namespace verbatim::gateway
