#pragma once

#include <string>
#include <string_view>

#include "sim/answer.h"
#include "sim/vllm/request.h"

namespace verbatim::sim::vllm {

// What an answer says about the server, and what tells it from others.
struct AnswerSetup {
  const Profile& profile;
  const tokenizer::Tokenizer& tokenizer;
  std::string_view model;
  std::string id;            // "generate-tokens-...", "cmpl-..."
  std::string unrelated_id;  // what profiles say that do not name the request
  std::int64_t created = 0;  // seconds since 1970
  std::optional<TokenId> stop_id;
  std::uint64_t seed = 0;  // of logprobs that nobody sampled
};

// The answer to POST /inference/v1/generate. Form: tests/captures/vllm/generate.json and
// generate_stream.json (0.32); older ones as profile.h says.
class GenerateAnswer final : public Answer {
 public:
  // `request` and what `setup` refers to outlive it.
  GenerateAnswer(Spelling spelling, const Request& request, AnswerSetup setup)
      : Answer(std::move(spelling)), request_(request), setup_(std::move(setup)) {}

  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] std::string events(const Part& part) const override;
  [[nodiscard]] std::string aborted_events(const Part& part) const override;
  [[nodiscard]] std::string closing_events() const override;
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] std::string error_event(int status, std::string_view message) const override;

 private:
  enum class Form { kWhole, kFrame };
  void append_choice(std::string& out, const Part& part, std::uint64_t index, Form form) const;
  void append_old_choice(std::string& out, const Part& part, std::uint64_t index, Form form) const;
  void append_choices(std::string& out, const Part& part) const;
  void append_frame(std::string& out, const Part& part, std::uint64_t index) const;
  [[nodiscard]] std::string weight_versions(const Part& part, Form form) const;
  [[nodiscard]] std::string routed_experts(const Part& part) const;
  [[nodiscard]] std::string logprobs(const Part& part) const;
  [[nodiscard]] std::string prompt_ids() const;
  [[nodiscard]] std::uint64_t counted(std::size_t ids) const;

  const Request& request_;
  AnswerSetup setup_;
};

// An error event: {"error": {...}} as Python prints it.
std::string error_event(int status, std::string_view type, std::string_view message);

}  // namespace verbatim::sim::vllm
