#include "sim/dynamo/profile.h"

namespace verbatim::sim::dynamo {
namespace {

constexpr Profile kNew{.name = "1.6.1",
                       .repeats_role = false,
                       .writes_nulls = false,
                       .logprobs_name_ids = true,
                       .times_prefill = true,
                       .zero_tops_is_one = false,
                       .echoes_prompt = true,
                       .has_ready_route = true,
                       .explains_404 = true,
                       .sampling_mask = true,
                       .checks_vocabulary = true,
                       .keeps_error_codes = true};
constexpr Profile kOld{.name = "1.4.1",
                       .repeats_role = true,
                       .writes_nulls = true,
                       .logprobs_name_ids = false,
                       .times_prefill = false,
                       .zero_tops_is_one = true,
                       .echoes_prompt = false,
                       .has_ready_route = false,
                       .explains_404 = false,
                       .sampling_mask = false,
                       .checks_vocabulary = false,
                       .keeps_error_codes = false};

}  // namespace

const Profile* profile_named(std::string_view name) {
  if (name == kNew.name) return &kNew;
  return name == kOld.name ? &kOld : nullptr;
}

}  // namespace verbatim::sim::dynamo
