#pragma once

#include <span>
#include <string>
#include <vector>

#include "export/record.h"

namespace verbatim::exporting {

// What was proved of one recorded turn from the record alone.
struct TurnProof {
  std::string turn;
  std::string parent;         // empty: a root
  std::size_t inherited = 0;  // ids of the parent's row that the prompt begins with
  std::size_t trimmed = 0;    // ids of the parent's row that it leaves out at the join
  std::size_t added = 0;      // prompt ids behind them
  std::size_t sampled = 0;
  std::string failure;  // empty: proved
};

// For each turn: its prompt begins with its parent's prompt and completion, one by one (at most
// `max_trim` ids less); every sampled id has a logprob that is a finite number not above 0. In the
// order of the record.
std::vector<TurnProof> prove_turns(std::span<const RecordedTurn> turns, std::size_t max_trim);

}  // namespace verbatim::exporting
