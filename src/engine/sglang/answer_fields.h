#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "engine/fields.h"
#include "json/value.h"

namespace verbatim::engine::sglang {

// Fields of SGLang's answer, one function for each shape. Pure; used by AnswerReader.

// What a list in a stream's event holds.
enum class Form {
  kAll,  // every entry so far
  kNew,  // those that are new
};
struct Counts {
  std::uint64_t seen = 0;   // entries before this event
  std::uint64_t total = 0;  // entries with it
  [[nodiscard]] std::uint64_t fresh() const { return total - seen; }
};
// The form of `list` by its length; `known` is the form it had before, where that could be told.
// nullopt: both forms are the same here, because nothing was seen before. Error: not a list, or of
// another length than its form has.
base::Result<std::optional<Form>> form_of(const json::Value& list, std::string_view field,
                                          const Counts& counts, std::optional<Form> known);

// [logprob, id, text or null].
struct LogprobEntry {
  json::Value logprob;
  json::Value id;
};
std::optional<LogprobEntry> logprob_entry(const json::Value& value);

// meta_info.finish_reason; nullopt while it is null. "abort" is an error that names the engine's
// reason.
base::Result<std::optional<EngineFinish>> read_finish(const json::Value& meta);

}  // namespace verbatim::engine::sglang
