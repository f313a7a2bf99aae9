#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kinds.h"
#include "sim/faults.h"

namespace verbatim::engine::testing {

// What a client of the gateway gets where an engine's answer goes wrong in one way. Nothing of the
// answer is recorded unless it is good.
struct Proof {
  enum class Verdict {
    kGood,    // the answer is proved all the same
    kError,   // the rule that is broken is named
    kNoSuch,  // this mode's answers can't go wrong like that: they are not streamed
  };
  sim::Fault fault;
  Verdict verdict;
  int status = 200;
  std::string_view code;   // of the error. An engine's own answer passes on as it is
  std::string_view field;  // the indices left out: "choices[].index"; empty: none is meant
};

constexpr Proof good(sim::Fault fault) {
  return {fault, Proof::Verdict::kGood};
}
constexpr Proof no_such(sim::Fault fault) {
  return {fault, Proof::Verdict::kNoSuch};
}
constexpr Proof refused(sim::Fault fault, int status, std::string_view code = {}) {
  return {fault, Proof::Verdict::kError, status, code};
}
// "found ..., expected ..." at a field.
constexpr Proof malformed_at(sim::Fault fault, std::string_view field) {
  return {fault, Proof::Verdict::kError, 502, "malformed_answer", field};
}

// A kind of engine and how it is driven.
struct Driven {
  const Kind* kind;
  const Mode* mode;

  [[nodiscard]] std::string name() const {  // "vllm/completions"
    return std::string(kind->name) + "/" + std::string(mode->name);
  }
  // The same of letters and "_" alone, for GoogleTest.
  [[nodiscard]] std::string test_name() const;
  // The same engine in src/sim.
  [[nodiscard]] sim::FaceKind face() const { return sim::face_named(kind->name).value(); }
  [[nodiscard]] bool by_messages() const { return mode->path == Path::kMessages; }
  [[nodiscard]] bool can_have(sim::Fault fault) const {
    return by_messages() ? sim::applies_by_messages(fault) : sim::applies(fault, face());
  }
};
// Every kind in every mode of a path.
std::vector<Driven> all_driven(Path path);
// The same of all paths that have turns.
std::vector<Driven> all_driven();

// The rule-to-case table of docs/design.md 5: the rows of all kinds, and those in which a kind and
// one of its modes differ, which stand in the testing/proofs.cc of its directory and go first. Null
// where none has the fault.
const Proof* proof_of(const Driven& driven, sim::Fault fault);

// The lists behind it, most special first: of the mode, the kind, the path, and of all.
using ProofLists = std::array<std::span<const Proof>, 4>;
ProofLists proof_lists(const Driven& driven);

}  // namespace verbatim::engine::testing
