#pragma once

#include <string>
#include <string_view>

#include "sim/vllm/generate_answer.h"

namespace verbatim::sim::vllm {

// The answer to POST /v1/completions with one prompt. Form: tests/captures/vllm/completions.json
// (0.32); releases before 0.31 lack what is named there last.
class CompletionsAnswer final : public Answer {
 public:
  // `request` and what `setup` refers to outlive it.
  CompletionsAnswer(Spelling spelling, const Request& request, AnswerSetup setup);

  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] std::string events(const Part& part) const override;
  [[nodiscard]] std::string closing_events() const override;
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] std::string error_event(int status, std::string_view message) const override;

 private:
  // {"id":...,"object":...,"created":...,"model":...
  [[nodiscard]] std::string head() const;
  [[nodiscard]] std::string shown_text(const Part& part) const;
  // "logprobs":...,"finish_reason":...,"stop_reason":...
  [[nodiscard]] std::string middle(const Part& part) const;
  [[nodiscard]] std::string logprobs(const Part& part) const;
  [[nodiscard]] std::string token_name(std::size_t at) const;
  [[nodiscard]] std::string ids(const Part& part) const;
  [[nodiscard]] std::string prompt_ids() const;
  [[nodiscard]] std::uint64_t counted(std::size_t ids) const;

  const Request& request_;
  AnswerSetup setup_;
  std::size_t text_end_;  // a stop string and what follows it are not shown
};

}  // namespace verbatim::sim::vllm
