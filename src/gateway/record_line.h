#pragma once

#include <cstdint>
#include <string>

#include "trajectory/turn.h"

namespace verbatim::gateway {

// What a record line says beside the turn itself.
struct RecordPlace {
  // Turns committed before it in the session: a line that could not be written shows as a gap.
  std::uint64_t turn_index = 0;
  bool prefix_stable = true;  // the prompt extends the row of the last line that was written
  std::string checkpoint;     // folder of the tokenizer
};

// One line (without its end) of the format tito.record.v1 (tokens in, tokens out: prompt and
// completion ids, logprobs, segments, as the session servers of RL trainers write it), with further
// members: turn, parent_turn, branch, attach, spans, weight_versions, cached_tokens,
// discarded_token_ids, template_kwargs, timings. A turn by messages has token_exact false, no ids,
// and members messages, tools, usage.
std::string record_line(const trajectory::TurnPtr& turn, const RecordPlace& place);

// Does the prompt of `turn` begin with the whole row of the turn `written`?
bool extends_row(const trajectory::Turn& turn, std::uint64_t written);

// Why a file ends.
inline constexpr std::string_view kEndDeleted = "deleted";
inline constexpr std::string_view kEndExpired = "expired";

// The line that ends a session's file: {"schema_version":"tito.session.v1", session_id, turns,
// reason, ts}.
std::string session_end_line(const std::string& session_id, std::uint64_t turns,
                             std::string_view reason, std::int64_t now_ms);

// The assistant message of a turn as chat clients know it.
std::string assistant_message_json(const message::Message& message);

}  // namespace verbatim::gateway
