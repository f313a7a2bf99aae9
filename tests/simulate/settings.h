#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace verbatim::simulate {

// A deliberate bug, built in by a decorator: the simulation must find it.
enum class Break {
  kNone,
  kCommitAfterAnswer,  // the store acknowledges turns it has not kept yet
  kLostVersion,        // a commit does not raise the version
  kWrongLogprob,       // one logprob is kept a little off
  kStaleParent,        // a turn is hung below its parent's sibling
  kNoAbort,            // the engine is not told that nobody listens any more
  kDroppedSync,        // the disk says that it has synced, and has not; with --store sqlite
  kSharedChoice,       // of several answers to a request two are acknowledged as one turn
  kEveryRepeat,        // a request that says it is the first of its kind is taken for a repeat
  kForgottenKey,       // no Idempotency-Key is known again
};
std::optional<Break> break_named(const std::string& name);

struct Settings {
  std::uint64_t seeds = 200;
  std::uint64_t first_seed = 1;
  std::uint64_t turns = 175'000;  // requests for a turn, over all seeds
  Break broken = Break::kNone;
  std::string broken_name;
  bool on_disk = false;  // SQLite on a disk that fails and loses power; else in memory
  std::string kind;      // "vllm/completions": in all worlds; empty: each draws its own
  bool trace = false;
  bool quiet = false;
  std::uint64_t twice = 20;  // each so many seeds one is run twice
  std::string toy_dir = "tests/cases/toy";
};

}  // namespace verbatim::simulate
