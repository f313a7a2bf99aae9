#pragma once

#include <array>

#include "engine/mode.h"
#include "engine/vllm/derender_wire.h"
#include "engine/vllm/request_builder.h"

namespace verbatim::engine::vllm {

inline constexpr std::string_view kDerenderMode = "derender";

// The first is the default.
inline constexpr std::array kModes = {
    Mode{name(Route::kGenerate), "0.18", path(Route::kGenerate)},
    Mode{name(Route::kCompletions), "0.10.2", path(Route::kCompletions)},
    Mode{kDerenderMode, "0.24", kDerenderPath},
    chat_by_messages("chat-text"),
    kResponsesMode,
    kMessagesMode};

}  // namespace verbatim::engine::vllm
