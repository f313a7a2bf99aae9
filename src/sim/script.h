#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/executor.h"
#include "base/result.h"
#include "sim/completion.h"
#include "sim/faults.h"

namespace verbatim::sim {

// A whole HTTP answer in place of a completion.
struct HttpReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// What the engine does for one request.
struct Reply {
  std::optional<std::string> text;  // sampled by Sampler; closed by the stop id
  std::optional<TokenIds> ids;      // exactly these
  std::vector<double> logprobs;     // one per id, or none: made up
  // Given, the completion ends like this, whatever the request's limits say.
  std::optional<Finish> finish;
  base::Duration delay{0};
  std::optional<base::Duration> token_delay;
  std::vector<std::size_t> events;  // how many ids each event of a stream brings
  std::optional<Fault> fault;
  std::optional<HttpReply> http;
  std::optional<std::string> weight_version;
  std::string routed_experts;  // JSON; empty: none
};

// A list of steps, each a Reply, read from a JSON file:
//
//   {"steps": [
//     {"when": {"tail": "in Rome?", "prompt_ids": [1, 2]},   // both optional; else in order
//      "repeat": true,                                       // may serve many requests
//      "text": "...", "output_ids": [..], "logprobs": [..],
//      "finish": "stop" | "length" | "abort" | null, "matched": 5 | "text",
//      "delay_ms": 10, "token_delay_ms": 1, "events": [1, 3], "fault": "stall",
//      "status": 429, "headers": {"retry-after": "3"}, "body": "text" or any JSON,
//      "weight_version": "w2", "routed_experts": any JSON}]}  // vLLM and Dynamo print it as it is
//
// A request is served by the first step left whose `when` fits it; a step without `when` fits every
// request. `tail` must be found in the last 2,000 characters of the prompt. On one executor.
class Script {
 public:
  // Errors name step and field.
  static base::Result<Script> parse(std::string_view json);

  // The reply for the next request; null when no step is left that fits.
  const Reply* next(std::span<const TokenId> prompt, std::string_view tail);
  // Whether any step looks at the prompt's text.
  [[nodiscard]] bool reads_text() const;

 private:
  struct Step {
    std::optional<std::string> tail;
    std::optional<TokenIds> prompt;
    bool repeat = false;
    bool used = false;
    Reply reply;
  };
  friend class StepReader;
  std::vector<Step> steps_;
};

}  // namespace verbatim::sim
