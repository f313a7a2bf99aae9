#include "engine/testing/proofs.h"

#include <algorithm>
#include <array>

#include "engine/dynamo/testing/proofs.h"
#include "engine/sglang/testing/proofs.h"
#include "engine/vllm/testing/proofs.h"

namespace verbatim::engine::testing {
namespace {

using sim::Fault;

constexpr std::array kOfAll = {
    malformed_at(Fault::kNanLogprob, ""),
    malformed_at(Fault::kHtmlBody, ""),
    refused(Fault::kCutStream, 502, "closed_before_end"),
    refused(Fault::kNoDone, 502, "cut_answer"),
    refused(Fault::kBareErrorEvent, 502, "cut_answer"),
    refused(Fault::kStall, 504),
    refused(Fault::kClosed, 502, "closed_before_response"),
    refused(Fault::kHttp400, 400),
    refused(Fault::kHttp429, 429),
    refused(Fault::kHttp404, 404),
    refused(Fault::kHttp413, 413),
    refused(Fault::kHttp500, 500),
    refused(Fault::kHttp503, 503),
    good(Fault::kSlowBody),
    good(Fault::kSplitBytes),
    good(Fault::kComments),
    good(Fault::kIdsPastStop),
};

struct Of {
  std::string_view kind;
  std::span<const Proof> (*of_kind)();
  std::span<const Proof> (*of_mode)(std::string_view mode);
};
constexpr std::array kKinds = {
    Of{"sglang", sglang::testing::proofs, sglang::testing::proofs_of_mode},
    Of{"vllm", vllm::testing::proofs, vllm::testing::proofs_of_mode},
    Of{"dynamo", dynamo::testing::proofs, dynamo::testing::proofs_of_mode},
};

}  // namespace

std::vector<Driven> all_driven() {
  std::vector<Driven> all;
  for (const Kind& kind : engine::kinds()) {
    for (const Mode& mode : kind.modes) {
      if (mode.path == Path::kTokens) all.push_back({&kind, &mode});
    }
  }
  return all;
}

ProofLists proof_lists(const Driven& driven) {
  const auto of = std::find_if(kKinds.begin(), kKinds.end(),
                               [&](const Of& each) { return each.kind == driven.kind->name; });
  if (of == kKinds.end()) return {{}, {}, kOfAll};
  return {of->of_mode(driven.mode->name), of->of_kind(), kOfAll};
}

const Proof* proof_of(const Driven& driven, Fault fault) {
  const auto lists = proof_lists(driven);
  for (const auto list : {lists.of_mode, lists.of_kind, lists.of_all}) {
    const auto row = std::find_if(list.begin(), list.end(),
                                  [&](const Proof& proof) { return proof.fault == fault; });
    if (row != list.end()) return &*row;
  }
  return nullptr;
}

}  // namespace verbatim::engine::testing
