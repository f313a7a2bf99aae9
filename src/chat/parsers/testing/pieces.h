#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "chat/parsers/parser.h"
#include "message/fold.h"

namespace verbatim::chat::parsers::testing {

// A piece of model output: a tag, or text.
struct Piece {
  std::optional<MarkerIndex> tag;
  std::string text;
};
using Pieces = std::vector<Piece>;

struct Outcome {
  message::Events events;
  message::Folded folded;
  message::FinishReason finish = message::FinishReason::kStop;
};

// Splits `output` at the spelled tags of the grammar.
Pieces split(const Grammar& grammar, std::string_view output);
// The output with its tags spelled out.
std::string spelled(const Grammar& grammar, const Pieces& pieces);

// Parses the pieces; text is fed in runs of characters whose length `next_run` says (>= 1).
using NextRun = std::function<std::size_t()>;
Outcome parse(const Grammar& grammar, const TurnStart& start, const Pieces& pieces, Ending ending,
              const NextRun& next_run);
// The same with the tags found in the text, which is cut without regard to them.
Outcome parse_text(const Grammar& grammar, const TurnStart& start, std::string_view output,
                   Ending ending, const NextRun& next_run);

// Random output made of tags, calls (whole, broken, cut, with long values), text and white space.
Pieces random_pieces(const Grammar& grammar, base::Random& random);

// What must hold for every outcome: no empty deltas, calls numbered 0, 1, 2 ..., complete ones with
// a JSON object, others without, text in whole characters. Empty when all is well.
std::string broken_rule(const Outcome& outcome);

}  // namespace verbatim::chat::parsers::testing
