#include "simulate/generations.h"

#include <algorithm>

namespace verbatim::simulate {

using sim::Served;

namespace {

bool same_ids(const Sampled& sampled, const Served& served) {
  const auto& ids = sampled.ids;
  const bool whole = served.whole && served.sent == ids.size();
  const bool all = sampled.cut ? served.sent >= ids.size() : whole;
  return all && ids.size() <= served.ids.size() &&
         std::equal(ids.begin(), ids.end(), served.ids.begin()) && served.prompt == sampled.prompt;
}

}  // namespace

bool same_logprobs(const Sampled& sampled, const Served& served) {
  const auto& kept = sampled.logprobs;
  const bool rounded = sampled.cut || sampled.floats;
  if (kept.size() > served.logprobs.size()) return false;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double exact = served.logprobs[i];
    const bool as_float = rounded && static_cast<float>(kept[i]) == static_cast<float>(exact);
    if (kept[i] != exact && !as_float) return false;
  }
  return true;
}

const Served* generation_of(const Sampled& sampled, const std::vector<const Served*>& all,
                            const std::function<bool(const Served&)>& good) {
  const Served* alike = nullptr;
  for (const Served* each : all) {
    if (!same_ids(sampled, *each)) continue;
    if (same_logprobs(sampled, *each) && good(*each)) return each;
    if (alike == nullptr) alike = each;
  }
  return alike;
}

}  // namespace verbatim::simulate
