#pragma once

#include <string>

#include "gateway/answer_form.h"
#include "gateway/model.h"
#include "protocol/responses_emitter.h"

namespace verbatim::gateway {

// What a response takes over from its request.
struct ResponsePlan {
  protocol::ResponseHead head;
  bool stream = false;
  bool store = false;
  bool instructed = false;
  std::string owner;
  std::string_view input;  // array of items; outlives the answer
  // Of the conversation it is in; null: none. Without the answer, which is added.
  std::shared_ptr<const store::ConversationChange> conversation;
};

// Answers to POST /v1/responses. Two of one response say the same to the byte.
class ResponsesForm final : public AnswerForm {
 public:
  ResponsesForm(const Model& model, ResponsePlan plan);

  void show(std::uint32_t choice, std::span<const message::Event> events,
            const engine::TokenChunk& chunk) override;
  void finish(std::span<const trajectory::TurnPtr> turns) override;
  void fail(const base::Error& error) override;
  std::string whole(std::span<const trajectory::TurnPtr> turns) override;
  std::unique_ptr<store::StoredResponse> record(const trajectory::Turn& turn) override;
  std::unique_ptr<store::ConversationChange> advance(const trajectory::Turn& turn) override;

 private:
  // Ends the items, and knows the object then. Once.
  void conclude(const trajectory::Turn& turn);
  void frame();

  const Model& model_;
  const ResponsePlan plan_;
  protocol::ResponsesEmitter emitter_;
  protocol::NamedEvents events_;
  std::string status_;  // empty: not concluded
  std::string object_;
};

}  // namespace verbatim::gateway
