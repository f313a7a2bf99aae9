#include "export/audit.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace verbatim::exporting {
namespace {

void prove_prefix(TurnProof& proof, const RecordedTurn& turn, const RecordedTurn& parent,
                  std::size_t max_trim) {
  TokenIds row = parent.prompt;
  row.insert(row.end(), parent.completion.begin(), parent.completion.end());
  const auto common =
      std::mismatch(row.begin(), row.end(), turn.prompt.begin(), turn.prompt.end()).first -
      row.begin();
  proof.inherited = static_cast<std::size_t>(common);
  proof.trimmed = row.size() - proof.inherited;
  if (proof.trimmed > max_trim) {
    proof.failure = "the prompt leaves the row of its parent at id " +
                    std::to_string(proof.inherited) + " of " + std::to_string(row.size());
    return;
  }
  proof.added = turn.prompt.size() - proof.inherited;
}

}  // namespace

std::vector<TurnProof> prove_turns(std::span<const RecordedTurn> turns, std::size_t max_trim) {
  std::map<std::string, const RecordedTurn*> by_id;
  std::vector<TurnProof> proofs;
  for (const auto& turn : turns) {
    TurnProof proof;
    proof.turn = turn.turn;
    proof.parent = turn.parent;
    proof.sampled = turn.completion.size();
    if (turn.parent.empty()) {
      proof.added = turn.prompt.size();
    } else if (const auto parent = by_id.find(turn.parent); parent != by_id.end()) {
      prove_prefix(proof, turn, *parent->second, max_trim);
    } else {
      proof.failure = "its parent " + turn.parent + " is not recorded before it";
    }
    const bool sound = std::all_of(turn.logprobs.begin(), turn.logprobs.end(), [](double value) {
      return std::isfinite(value) && value <= base::kMaxLogprob;
    });
    if (proof.failure.empty() && !sound) proof.failure = "a logprob is above 0 or no number";
    by_id.emplace(turn.turn, &turn);
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

}  // namespace verbatim::exporting
