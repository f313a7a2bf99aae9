#pragma once

#include <vector>

#include "gateway/answer_form.h"
#include "gateway/model.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_request.h"
#include "protocol/chat_stream.h"

namespace verbatim::gateway {

// Answers to Chat Completions.
class ChatForm final : public AnswerForm {
 public:
  ChatForm(const Model& model, const protocol::ChatHead& head,
           const protocol::ChatRequest& request);

  void show(std::uint32_t choice, std::span<const message::Event> events,
            const engine::TokenChunk& chunk) override;
  void finish(std::span<const trajectory::TurnPtr> turns) override;
  void fail(const base::Error& error) override;
  std::string whole(std::span<const trajectory::TurnPtr> turns) override;

 private:
  struct Choice {
    protocol::ChatStreamEmitter emitter;                // of a stream
    std::vector<protocol::TokenLogprob> logprobs = {};  // of a whole answer
  };
  void frame();

  const Model& model_;
  const protocol::ChatHead head_;
  const bool stream_;
  const bool logprobs_;
  std::vector<Choice> choices_;
  std::vector<std::string> payloads_;
};

}  // namespace verbatim::gateway
