#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verbatim::protocol {

// `encrypted_content` of reasoning items: the text itself in a form that clients hand back as it
// is, so that a conversation of which nothing is stored keeps its reasoning. Not secret: the item
// shows the same text in `content`.
std::string seal_reasoning(std::string_view text);

// Is it of seal_reasoning()? Others (of another server) can't be read here.
bool is_sealed(std::string_view content);
// The text; nullopt where it is no more what seal_reasoning() wrote.
std::optional<std::string> unseal_reasoning(std::string_view content);

}  // namespace verbatim::protocol
