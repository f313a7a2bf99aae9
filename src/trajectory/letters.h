#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "message/message.h"

namespace verbatim::trajectory {

// The letters of messages: what a request repeats of a recorded history, one message behind
// another in one run of memory. Comparing a request with them reads memory in order, where the
// messages of a path lie scattered. They never leave the process.
//
// Compared is the text itself, not a digest of it: a digest would have to be one that a client
// can't find collisions for, and making such a digest of the request costs more than reading the
// recorded text once (docs/adr/0005).
void append_letters(std::string& letters, const message::Message& message);

// Does `sent` begin with the messages that `letters` stand for, to the letter? Reasoning may be
// left out of it; ids and unknown fields don't count. Returns how many messages that are, 0 where
// one differs or is missing. `letters` are whole messages.
std::size_t repeated(std::span<const char> letters, std::span<const message::Message> sent);

}  // namespace verbatim::trajectory
