#pragma once

#include <string>

#include "cassette/cassette.h"

namespace verbatim::cassette::testing {

// A file of two turns that breaks no rule: a whole answer and a stream.
std::string good_text();

// POST /v1/responses with this body, answered by this JSON.
RecordedTurn whole_turn(std::string name, std::string body, std::string answer);
// The same, answered by a stream of events with these data.
RecordedTurn streamed_turn(std::string name, std::string body,
                           const std::vector<std::string>& data);

}  // namespace verbatim::cassette::testing
