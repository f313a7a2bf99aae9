#pragma once

#include <span>

#include "json/writer.h"
#include "message/usage.h"
#include "protocol/chat_answer.h"

namespace verbatim::protocol {

// Parts that whole answers and chunks share.
void write_usage(json::Writer& w, const message::Usage& usage);
// {"content": [{token, logprob, bytes, top_logprobs}]}
void write_logprobs(json::Writer& w, std::span<const TokenLogprob> logprobs);

}  // namespace verbatim::protocol
