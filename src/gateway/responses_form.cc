#include "gateway/responses_form.h"

#include <algorithm>

#include "gateway/conversation_history.h"
#include "gateway/usage.h"
#include "net/sse.h"
#include "protocol/openai_error.h"

namespace verbatim::gateway {

namespace {

// Ids of items follow from the response's: each answer that shows it has the same.
protocol::ResponsesEmitter::Draw ids_of(const std::string& response) {
  const std::string stem = response.substr(std::min(response.find('_') + 1, response.size()));
  return [stem, next = 0]() mutable { return stem + "_" + std::to_string(next++); };
}

}  // namespace

ResponsesForm::ResponsesForm(const Model& model, ResponsePlan plan)
    : model_(model), plan_(std::move(plan)), emitter_(plan_.head, ids_of(plan_.head.id)) {}

void ResponsesForm::show(std::uint32_t, std::span<const message::Event> events,
                         const engine::TokenChunk&) {
  emitter_.events(events, events_);
  if (plan_.stream) frame();
  events_.clear();
}

void ResponsesForm::conclude(const trajectory::Turn& turn) {
  if (!status_.empty()) return;
  status_ = turn.finish == message::FinishReason::kLength ? "incomplete" : "completed";
  emitter_.close(status_, events_);
  auto usage = usage_of(turn);
  if (turn.token_exact) {
    const bool open = model_.markers->reasoning_open(turn.prompt);
    usage.reasoning_tokens = model_.markers->reasoning_ids(open, turn.completion);
  }
  const bool whole = status_ == "completed";
  object_ = emitter_.whole(status_, usage, whole ? turn.times.committed_ms / 1000 : 0);
}

std::unique_ptr<store::StoredResponse> ResponsesForm::record(const trajectory::Turn& turn) {
  conclude(turn);
  if (!plan_.store) return nullptr;
  auto stored = std::make_unique<store::StoredResponse>();
  stored->id = plan_.head.id;
  stored->owner = plan_.owner;
  stored->session_id = turn.session_id;
  stored->turn = turn.id;
  stored->instructed = plan_.instructed;
  stored->created_ms = plan_.head.created * 1000;
  stored->body = object_;
  stored->input = plan_.input;
  return stored;
}

std::unique_ptr<store::ConversationChange> ResponsesForm::advance(const trajectory::Turn& turn) {
  if (!plan_.conversation) return nullptr;
  conclude(turn);
  auto change = std::make_unique<store::ConversationChange>(*plan_.conversation);
  change->now_ms = turn.times.committed_ms;
  change->answer->turn = turn.id;
  for (auto& item : output_items(object_)) change->added.push_back(std::move(item));
  return change;
}

void ResponsesForm::finish(std::span<const trajectory::TurnPtr> turns) {
  conclude(*turns.front());
  emitter_.end(status_, object_, events_);
  frame();
  net::append_sse_data(frames_, "[DONE]");
}

void ResponsesForm::fail(const base::Error& error) {
  emitter_.report(error, events_);
  emitter_.fail(error.code.empty() ? "server_error" : error.code,
                protocol::openai_error_message(error), nullptr, events_);
  frame();
  net::append_sse_data(frames_, "[DONE]");
}

std::string ResponsesForm::whole(std::span<const trajectory::TurnPtr> turns) {
  conclude(*turns.front());
  return object_;
}

void ResponsesForm::frame() {
  for (const auto& event : events_) net::append_sse_event(frames_, event.name, event.data);
  events_.clear();
}

}  // namespace verbatim::gateway
