#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "sim/face_kind.h"

namespace verbatim::sim {

// Ways in which an engine's answer goes wrong, each seen in the wild. What a client should make of
// it: an error, unless the comment says that the answer is still good.
enum class Fault : std::uint8_t {
  kNoOutputIds,        // ids in the logprobs only: still good
  kNoLogprobs,         // ids without logprobs
  kShortLogprobs,      // one logprob missing
  kNanLogprob,         // NaN, which is no JSON
  kNullLogprob,        // null, as some encoders write NaN
  kCountOffByOne,      // completion_tokens is one too high
  kWrongPromptTokens,  // the prompt was cut without a word
  kIdOutOfRange,
  kIdNegative,
  kIdString,
  kIdBool,
  kIdNull,
  kIdHuge,          // 2^40
  kWrongLogprobId,  // a logprob names another id than the completion
  kNullFinish,      // no finish reason at the end
  kWrongIndex,      // the only choice says it is the second
  kAbort,           // 200 with part of the output and finish reason abort
  kErrorBody,       // 200 with an error as its body
  kHtmlBody,        // 200 with a page of a proxy
  kCutStream,       // broken off within the answer
  kNoDone,          // ended without [DONE]
  kStall,           // silence from some event on
  kSlowBody,        // byte by byte, a millisecond apart: still good
  kErrorEvent,      // an error event in the stream
  kExtraEvent,      // the last event comes twice: still good, where the second brings nothing new
  kComments,        // keep-alive comments between the events: still good
  kHttp400,
  kHttp429,  // with Retry-After
  kHttp500,
  kHttp503,
  kClosed,          // connection closed before the answer
  kIdsPastStop,     // sampled on behind the stop id: still good, the rest is to be discarded
  kSplitBytes,      // each byte in a chunk of its own: still good
  kTrimmedStop,     // the stop id is left out: still good
  kStandInLogprob,  // the number that stands for a missing logprob, -9999 at vLLM
  kUnknownFinish,   // a finish reason that there is not
  kBareErrorEvent,  // "event: error" without data in the stream, and its end without [DONE]
  kNoEngineData,    // without what the worker itself says
  kEmptyAnswer,     // a good answer without an id: a generation that was cancelled inside
  kHttp404,         // the model is listed, and not served yet
  kHttp413,         // the body is too large for a proxy
  kHttp529,         // overloaded
};
inline constexpr std::size_t kFaults = 42;

// Whether answers of this face can go wrong in this way. Where not, the fault never fires.
bool applies(Fault fault, FaceKind face);
// The same of an answer by messages, whatever the face.
bool applies_by_messages(Fault fault);

// There must be events to go wrong: never of a whole answer.
bool needs_events(Fault fault);

std::string_view name(Fault fault);  // "no_output_ids" ...
std::optional<Fault> fault_named(std::string_view text);
// All names, ", " between them; where a line gets long, `line_break` stands for the blank.
std::string fault_names(std::string_view line_break = {});

// How often each fault is to fire, in thousandths of the requests. At most one fires for a request.
class FaultRates {
 public:
  [[nodiscard]] unsigned of(Fault fault) const { return permille_[index(fault)]; }
  FaultRates& set(Fault fault, unsigned permille) {
    permille_[index(fault)] = permille;
    return *this;
  }
  // The fault for one request, by one draw.
  [[nodiscard]] std::optional<Fault> draw(base::Random& random) const;
  // "stall=5,http_500=20": names and thousandths; "all=3" sets every one.
  static base::Result<FaultRates> parse(std::string_view text);

 private:
  static std::size_t index(Fault fault) { return static_cast<std::size_t>(fault); }
  std::array<unsigned, kFaults> permille_{};
};

// How often each fault fired.
using FaultCounts = std::array<std::uint64_t, kFaults>;

}  // namespace verbatim::sim
