#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sim/answer.h"
#include "sim/sglang/request.h"
#include "sim/streaming.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::sim::sglang {

// {"error":{"message":...}}
std::string error_json(std::string_view message);

// The answer to POST /generate.
class GenerateAnswer : public Answer {
 public:
  // What stays the same in all its events.
  struct Setup {
    Streaming streaming = Streaming::kCumulative;
    std::uint64_t seed = 0;  // of the logprobs of ids that were not sampled
    const Profile& profile;
  };
  // `call` outlives it.
  GenerateAnswer(Spelling spelling, const GenerateCall& call, Setup setup)
      : Answer(std::move(spelling)), call_(call), setup_(setup) {}

  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] std::string events(const Part& part) const override;
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] std::string error_event(int status, std::string_view message) const override;

 protected:
  // ,"meta_info":{...}
  void append_meta(std::string& out, const Part& part) const;
  void append_weights(std::string& out, const Part& part) const;
  [[nodiscard]] const GenerateCall& call() const { return call_; }

 private:
  [[nodiscard]] std::string body(const Part& part) const;
  void append_logprobs(std::string& out, std::size_t from, std::size_t to, bool last) const;
  void append_top_logprobs(std::string& out, std::size_t from, std::size_t to) const;

  const GenerateCall& call_;
  Setup setup_;
};

// The answer to POST /v1/chat/completions with input_ids (since SGLang 0.5.13,
// sgl-project/sglang#23751): the message as its parsers read it (here always hermes and <think>),
// the ids in meta_info.
class ChatAnswer final : public GenerateAnswer {
 public:
  // `tokenizer` and `chat` outlive it.
  ChatAnswer(Spelling spelling, const ChatCall& chat, Setup setup,
             const tokenizer::Tokenizer& tokenizer)
      : GenerateAnswer(std::move(spelling), chat.call, setup), chat_(chat), tokenizer_(tokenizer) {}

  // Its ids stand beside their logprobs only, so the two can't disagree.
  bool apply(Fault fault, std::uint64_t at) override {
    return fault != Fault::kWrongLogprobId && GenerateAnswer::apply(fault, at);
  }
  [[nodiscard]] HttpReply whole(const Part& part) const override;

 private:
  const ChatCall& chat_;
  const tokenizer::Tokenizer& tokenizer_;
};

}  // namespace verbatim::sim::sglang
