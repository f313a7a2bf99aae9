#pragma once

#include <string>
#include <string_view>

#include "sim/answer.h"
#include "sim/streaming.h"

namespace verbatim::sim::sglang {

// {"error":{"message":...}}
std::string error_json(std::string_view message);

// The answer to POST /generate (SGLang 0.5.16).
class GenerateAnswer final : public Answer {
 public:
  // What stays the same in all its events.
  struct Setup {
    Streaming streaming = Streaming::kCumulative;
    std::uint64_t seed = 0;  // of the logprobs of ids that were not sampled
  };
  // `call` outlives it.
  GenerateAnswer(Spelling spelling, const GenerateCall& call, Setup setup)
      : Answer(std::move(spelling)), call_(call), setup_(setup) {}

  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] std::string events(const Part& part) const override;
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] std::string error_event(int status, std::string_view message) const override;

 private:
  [[nodiscard]] std::string body(const Part& part) const;
  void append_logprobs(std::string& out, std::size_t from, std::size_t to, bool last) const;
  void append_top_logprobs(std::string& out, std::size_t from, std::size_t to) const;
  void append_meta(std::string& out, const Part& part) const;

  const GenerateCall& call_;
  Setup setup_;
};

}  // namespace verbatim::sim::sglang
