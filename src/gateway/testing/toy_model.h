#pragma once

#include <memory>
#include <string_view>

#include "chat/testing/toy_chat.h"
#include "gateway/model.h"

namespace verbatim::gateway::testing {

// A model "toy" of one of the toy families, "chatml" or "roletok".
std::unique_ptr<Model> toy_model(
    std::string_view family = "chatml",
    tokenizer::EncodingPolicy policy = tokenizer::EncodingPolicy::kInjectionSafe);

}  // namespace verbatim::gateway::testing
