#pragma once

#include <span>
#include <string_view>

#include "json/writer.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {

// The segments of a turn's whole prompt in the words of tito.record.v1, [{start, end, source}],
// tiling it: "prefix" (the parent's row) or "render" (a root), then by message role "system",
// "user", "tool", "assistant", and "generation_prompt". Synthetic closes and boundary ids are
// "render".
void write_segments(json::Writer& w, const trajectory::TurnPtr& turn);

// Our own, finer spans of prompt ids: [{count, source, message, field}].
void write_spans(json::Writer& w, std::span<const message::TokenSpan> spans);

std::string_view name(message::SpanSource source);
std::string_view name(message::Field field);

}  // namespace verbatim::gateway
