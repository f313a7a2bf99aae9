#include "engine/testing/proofs.h"

#include <algorithm>
#include <array>

#include "engine/dynamo/testing/proofs.h"
#include "engine/messages/testing/proofs.h"
#include "engine/sglang/testing/proofs.h"
#include "engine/vllm/testing/proofs.h"

namespace verbatim::engine::testing {
namespace {

using sim::Fault;

constexpr std::array kOfIds = {
    malformed_at(Fault::kNanLogprob, ""),
    good(Fault::kIdsPastStop),
};

constexpr std::array kOfAll = {
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

std::string Driven::test_name() const {
  std::string text = name();
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return text;
}

std::vector<Driven> all_driven(Path path) {
  std::vector<Driven> all;
  for (const Kind& kind : engine::kinds()) {
    for (const Mode& mode : kind.modes) {
      if (mode.path == path) all.push_back({&kind, &mode});
    }
  }
  return all;
}

std::vector<Driven> all_driven() {
  auto all = all_driven(Path::kTokens);
  const auto by_messages = all_driven(Path::kMessages);
  all.insert(all.end(), by_messages.begin(), by_messages.end());
  return all;
}

ProofLists proof_lists(const Driven& driven) {
  if (driven.mode->path == Path::kMessages)
    return {{messages::testing::proofs_of_wire(driven.mode->wire),
             {},
             messages::testing::proofs(),
             kOfAll}};
  const auto of = std::find_if(kKinds.begin(), kKinds.end(),
                               [&](const Of& each) { return each.kind == driven.kind->name; });
  if (of == kKinds.end()) return {{{}, {}, kOfIds, kOfAll}};
  return {{of->of_mode(driven.mode->name), of->of_kind(), kOfIds, kOfAll}};
}

const Proof* proof_of(const Driven& driven, Fault fault) {
  for (const auto list : proof_lists(driven)) {
    const auto row = std::find_if(list.begin(), list.end(),
                                  [&](const Proof& proof) { return proof.fault == fault; });
    if (row != list.end()) return &*row;
  }
  return nullptr;
}

}  // namespace verbatim::engine::testing
