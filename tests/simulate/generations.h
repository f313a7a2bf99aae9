#pragma once

#include <functional>
#include <vector>

#include "sim/sim_engine.h"

namespace verbatim::simulate {

// What a turn says that was sampled for it.
struct Sampled {
  base::TokenIds prompt;
  base::TokenIds ids;  // the discarded ones too
  std::vector<double> logprobs;
  bool cut = false;     // by the gateway: what the engine sent behind it is not in the turn
  bool floats = false;  // the engine's wire has no other logprobs than 32-bit floats
};

// As sampled; where the engine could not say them at its end, or its wire has no others, as 32-bit
// floats.
[[nodiscard]] bool same_logprobs(const Sampled& sampled, const sim::Served& served);

// The one among the generations with a turn's seed that the turn was made of; null: none has its
// prompt and ids. A request that is asked again is sampled again, and a short answer may well have
// the ids of one that was refused: of those alike it is the one with the turn's logprobs that is
// `good`. Where there is none it is the first, by which to say what differs.
[[nodiscard]] const sim::Served* generation_of(const Sampled& sampled,
                                               const std::vector<const sim::Served*>& all,
                                               const std::function<bool(const sim::Served&)>& good);

}  // namespace verbatim::simulate
