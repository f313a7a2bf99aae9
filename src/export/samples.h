#pragma once

#include <span>
#include <string>
#include <vector>

#include "export/record.h"

namespace verbatim::exporting {

// One trajectory: a path of turns from a root to a leaf, as a trainer reads it. ids, mask,
// loss_mask and logprobs have one length.
struct Sample {
  std::string session_id;
  std::vector<std::string> turns;       // ids, root first
  TokenIds ids;                         // prompts and completions
  std::vector<std::uint8_t> mask;       // 1: sampled by the model
  std::vector<std::uint8_t> loss_mask;  // 1: sampled, and in no other sample of this list: every
                                        // sampled id is trained on once
  std::vector<double> logprobs;         // natural logs; 0 where mask is 0
  std::vector<std::string>
      trimmed;  // turns whose last id is not in `ids`, since the next prompt replaces it
  std::string finish_reason;  // of the leaf
};

// One sample per leaf, in the order in which the leaves were recorded. A turn that several leaves
// share is trained on in the first. kInvalidRequest when the turns of a path don't extend one
// another (at most one id may be dropped at a join).
base::Result<std::vector<Sample>> leaf_samples(std::span<const RecordedTurn> turns);

// {"session_id", "turns", "ids", "mask", "loss_mask", "logprobs", "trimmed", "finish_reason"} on
// one line.
std::string sample_line(const Sample& sample);

}  // namespace verbatim::exporting
