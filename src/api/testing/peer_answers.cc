// What engines answer, good or not. That no bad answer leaves a trace, whatever the mode of the
// session, is what the equal columns say.
#include "api/testing/peer_rows.h"

namespace verbatim::api::testing {
namespace {

using base::Task;

std::string fault_step(std::string_view fault) {
  return R"({"text":"one two three four","fault":")" + std::string(fault) + "\"}";
}
std::vector<std::string> faults(std::initializer_list<std::string_view> names) {
  std::vector<std::string> steps;
  for (const auto name : names) steps.push_back(fault_step(name));
  return steps;
}

std::string raw_step(std::string_view type, const std::string& escaped) {
  return R"({"status":200,"headers":{"content-type":")" + std::string(type) + R"("},"body":")" +
         escaped + "\"}";
}
// Each body whole, and as the only event of a stream.
std::vector<std::string> bodies(std::initializer_list<const char*> escaped) {
  std::vector<std::string> steps;
  for (const std::string each : escaped) {
    steps.push_back(raw_step("application/json", each));
    steps.push_back(raw_step("text/event-stream", "data: " + each + R"(\n\ndata: [DONE]\n\n)"));
  }
  return steps;
}

// Asks once for each step, and once more: what is bad leaves session and connection as they were.
// Equal outcomes in a row are told once.
Task<std::string> ask_each(Play& play) {
  std::string out, before;
  const auto connections = play.gateway.instance->connections();
  for (std::size_t i = 0; i <= play.left; ++i) {
    auto one = co_await play.ask_next();
    if (one != before) out += (out.empty() ? "" : ", ") + one;
    before = std::move(one);
  }
  if (play.gateway.instance->connections() != connections) out += " ANOTHER CONNECTION";
  co_return out;
}

constexpr const char* kClosed =
    "asked 502 closed_before_response, asked 502 closed_before_end, 200 3:history";
constexpr const char* kMalformed = "asked 502 malformed_answer, 200 3:history";

const std::vector<PeerRow> kRows{
    {"probe 20", "the engine ends the generation with finish reason abort",
     "recorded as if it were whole; it is no answer of the model", 3, faults({"abort"}), ask_each,
     "asked 502 engine_abort, 200 3:history", "asked 502 engine_abort, 200 3:history",
     "asked 502 engine_abort, 200 3:history"},
    {"probe 23",
     "a status of the engine: 400, 429, 500",
     "passed on with its headers, as here",
     3,
     {R"({"status":400,"body":{"error":{"message":"no"}}})",
      R"({"status":429,"headers":{"retry-after":"3","x-request-id":"up"},"body":{"error":{"message":"no"}}})",
      R"({"status":500,"body":{"error":{"message":"no"}}})"},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.ask_next();
       out += ", ";
       out += co_await p.ask_next();
       out += " " + p.last.header("retry-after") + " " + p.last.header("x-engine-request-id") +
              " " + p.last.text("error", "message") + ", ";
       out += co_await p.ask_next();
       out += ", ";
       out += co_await p.ask_next();
       co_return out;
     },
     "asked 400, asked 429 3 up no, asked 500, 200 3:history",
     "asked 400, asked 429 3 up no, asked 500, 200 3:history",
     "asked 400, asked 429 3 up no, asked 500, 200 3:history"},
    {"probe 24", "the engine closes the connection", "502 with the name of a Python exception", 3,
     faults({"closed", "cut_stream"}), ask_each, kClosed, kClosed, kClosed},
    {"probe 25", "a 200 that is no JSON, an array, null, empty, cut",
     "500 by two of them: the fault is the engine's", 3,
     bodies({"not json", "[]", "null", "", R"({\"text\":\"x)"}), ask_each, kMalformed, kMalformed,
     kMalformed},
    {"probe 26", "choices empty, null, no object", "500 by two of them", 3,
     bodies({R"({\"choices\":[]})", R"({\"choices\":null})", R"({\"choices\":[1]})",
             R"({\"choices\":{}})"}),
     ask_each, kMalformed, kMalformed, kMalformed, "vllm", "completions"},
    {"probe 27", "no data about the generation, no logprobs, one logprob short", "502, as here", 3,
     faults({"no_logprobs", "short_logprobs"}), ask_each, kMalformed, kMalformed, kMalformed},
    {"probe 28", "logprobs null, no count, an entry that is no list", "500 by two of them", 3,
     bodies(
         {R"({\"text\":\"x\",\"output_ids\":[1],\"meta_info\":null})",
          R"({\"text\":\"x\",\"output_ids\":[1],\"meta_info\":{\"id\":\"a\",\"finish_reason\":{\"type\":\"stop\"},\"output_token_logprobs\":null,\"completion_tokens\":1}})",
          R"({\"text\":\"x\",\"output_ids\":[1],\"meta_info\":{\"id\":\"a\",\"finish_reason\":{\"type\":\"stop\"},\"output_token_logprobs\":[[-0.5,1,null]]}})",
          R"({\"text\":\"x\",\"output_ids\":[1],\"meta_info\":{\"id\":\"a\",\"finish_reason\":{\"type\":\"stop\"},\"output_token_logprobs\":[1],\"completion_tokens\":1}})"}),
     ask_each, kMalformed, kMalformed, kMalformed},
    {"probe 29", "an id that is a string",
     "200 and recorded, or kept in memory and its line dropped: a type is proved before a commit",
     3, faults({"id_string"}), ask_each, kMalformed, kMalformed, kMalformed},
    {"probe 30", "an id below 0, of 2^40, over the vocabulary", "200 and recorded", 3,
     faults({"id_negative", "id_huge", "id_out_of_range"}), ask_each, kMalformed, kMalformed,
     kMalformed},
    {"probe 31", "an id that is `true`", "200: a boolean is a number in Python", 3,
     faults({"id_bool"}), ask_each, kMalformed, kMalformed, kMalformed, "vllm", "generate"},
    {"probe 32", "a logprob that is null", "200 and recorded by two of them", 3,
     faults({"null_logprob"}), ask_each, kMalformed, kMalformed, kMalformed},
    {"probe 33", "a logprob that is NaN",
     "200 and no line, or 500 when the tokens were spent: the engine's fault, told as such", 3,
     faults({"nan_logprob"}), ask_each, kMalformed, kMalformed, kMalformed},
    {"probe 34", "logprobs of other ids than those of the answer", "200 and recorded", 3,
     faults({"wrong_logprob_id"}), ask_each, kMalformed, kMalformed, kMalformed, "vllm",
     "completions"},
};

}  // namespace

std::span<const PeerRow> peer_answers() {
  return kRows;
}

}  // namespace verbatim::api::testing
