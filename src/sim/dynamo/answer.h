#pragma once

#include <string>
#include <string_view>

#include "sim/answer.h"
#include "sim/dynamo/request.h"

namespace verbatim::sim::dynamo {

// What an answer says about the frontend, and what tells it from others.
struct AnswerSetup {
  const Profile& profile;
  const tokenizer::Tokenizer& tokenizer;
  std::string_view model;
  std::string id;
  std::int64_t now_ms = 0;  // since 1970
  std::uint64_t seed = 0;
};

// The instance that answers, as nvext names it: above 2^53, as instance ids are.
inline constexpr std::uint64_t kWorkerId = 2830660040905653313;

// The answer to POST /v1/chat/completions. Form: tests/captures/dynamo/chat.json. The worker has no
// parsers: what was sampled is the content. Logprobs in choices are floats of 32 bits; engine_data
// holds what the worker said. engine_data comes with the last chunk of the worker: a stop string,
// which the frontend finds by itself, and a missing finish reason lose it.
class ChatAnswer final : public Answer {
 public:
  // `request` and what `setup` refers to outlive it.
  ChatAnswer(Spelling spelling, const Request& request, AnswerSetup setup);

  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] std::string events(const Part& part) const override;
  [[nodiscard]] std::string closing_events() const override;
  [[nodiscard]] std::string_view stream_type() const override { return "text/event-stream"; }
  // A stream answers 200 and names the error in an event.
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] std::string error_event(int status, std::string_view message) const override;

 private:
  enum class Form { kWhole, kChunk };
  [[nodiscard]] std::string annotations() const;
  [[nodiscard]] std::string text(const Part& part) const;
  [[nodiscard]] std::string finish_reason(const Part& part) const;
  [[nodiscard]] std::string logprobs(const Part& part) const;
  [[nodiscard]] std::string choice(const Part& part, Form form) const;
  [[nodiscard]] std::string named_text(std::string_view spelled_id, TokenId id) const;
  // "nvext":{...}, or nothing where no member has a value.
  [[nodiscard]] std::string nvext(const Part& part, Form form) const;
  [[nodiscard]] std::string engine_data(std::size_t to) const;
  [[nodiscard]] std::string usage(std::size_t to, bool stops_by_text) const;
  // {"id":...,"choices":[<choices>],"created":...,"model":...,"object":...
  [[nodiscard]] std::string head(std::string_view choices, std::string_view object) const;
  // The worker's last chunk is there.
  [[nodiscard]] bool completes(const Part& part) const;

  const Request& request_;
  AnswerSetup setup_;
  std::size_t text_end_;  // what follows is not shown
};

// The answer to POST /inference/v1/generate, in one piece. Form:
// tests/captures/dynamo/generate.json.
class GenerateAnswer final : public Answer {
 public:
  // `request` and what `setup` refers to outlive it.
  GenerateAnswer(Spelling spelling, const Request& request, AnswerSetup setup)
      : Answer(std::move(spelling)), request_(request), setup_(std::move(setup)) {}

  // It counts nothing, and has nothing of the worker's own in it.
  bool apply(Fault fault, std::uint64_t at) override {
    const bool absent = fault == Fault::kCountOffByOne || fault == Fault::kWrongPromptTokens ||
                        fault == Fault::kNoEngineData;
    return !absent && Answer::apply(fault, at);
  }
  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] HttpReply whole_aborted(const Part& part) const override;
  [[nodiscard]] std::string events(const Part&) const override { return {}; }  // no such streams
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] std::string error_event(int, std::string_view) const override { return {}; }

 private:
  [[nodiscard]] std::string logprobs(const Part& part) const;

  const Request& request_;
  AnswerSetup setup_;
};

}  // namespace verbatim::sim::dynamo
