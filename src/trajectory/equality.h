#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "message/message.h"
#include "trajectory/digest.h"
#include "trajectory/spelling.h"

namespace verbatim::trajectory {

// The equality of docs/design.md 5, where it is an equivalence: which differences between two
// spellings of one message are none.
//  - role, text, participant name, names and arguments of calls count; ids, reasoning and unknown
//  fields do not, but for the parts of a content that is more than text: they are compared as JSON
//  values;
//  - leading and trailing whitespace of an assistant's text is ignored, all other whitespace
//  counts;
//  - arguments are compared as JSON values: key order and whitespace free, numbers by value (1
//  = 1.0 = 1e0, -0 = 0) without ever
//    expanding them, strings as code points; absent, "", null and {} are one; invalid JSON and
//    duplicate keys are compared as raw text.

// An agent's `spelling` makes more of them equal; null: it has none.

// A text such that two arguments texts are equal by the rules above exactly if their canonical
// texts are.
std::string canonical_arguments(std::string_view arguments, const Spelling* spelling = nullptr);

// What JavaScript's trim and Python's strip remove, from both ends.
std::string_view trim_whitespace(std::string_view text);

// Continues a chain: the digest of "the history that `previous` stands for, then `message`".
Digest extend(DigestBuilder& builder, const Digest& previous, const message::Message& message,
              const Spelling* spelling = nullptr);

// chain[i] stands for root + messages[0..i].
std::vector<Digest> chain(DigestBuilder& builder, const Digest& root,
                          std::span<const message::Message> messages,
                          const Spelling* spelling = nullptr);

// kSpelled: equal by the agent's spelling alone. Of a call that takes its id too, given back as it
// was: a value that is another might mean another call.
enum class Match { kEqual, kSpelled, kDifferent };
bool same_parts(const message::Message& stored, const message::Message& sent);
Match match_texts(const message::Message& stored, const message::Message& sent,
                  const Spelling* spelling);
Match match_arguments(const message::ToolCall& stored, const message::ToolCall& sent,
                      const Spelling* spelling);

// Reasoning is compared apart, since "absent on either side matches" is no equivalence.
enum class ReasoningMatch { kAbsent, kEqual, kDifferent };
ReasoningMatch match_reasoning(const message::Message& stored, const message::Message& sent);

}  // namespace verbatim::trajectory
