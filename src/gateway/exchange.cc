#include "gateway/exchange.h"

#include "gateway/chat_form.h"
#include "protocol/conversation.h"

namespace verbatim::gateway {

using base::Status;

void fill_in(protocol::ChatRequest& request, TurnRequest& turn) {
  turn.messages = std::move(request.messages);
  turn.wants_tools = request.wants_tools();
  turn.tools = std::move(request.tools);
  turn.sampling = request.sampling;
  turn.template_kwargs = std::move(request.chat_template_kwargs);
  turn.choices = request.choices;
  turn.model = request.model;
  turn.parameters = std::move(request.parameters);
  turn.stream = request.stream;
}

protocol::ChatReadOptions reading(const Model& model) {
  protocol::ChatReadOptions options;
  if (model.by_messages()) options.unserved = protocol::Unserved::kKeep;
  return options;
}

Status ChatExchange::read(const std::string& body) {
  body_ = &body;
  auto read = protocol::read_chat_request(body, reading(model_));
  if (!read) return std::move(read).error();
  request = std::move(*read);
  return {};
}

Status ChatExchange::pin(const SessionOptions& options) {
  auto body = with_session_values(*body_, options);
  if (!body) return std::move(body).error();
  const unsigned choices = request.choices;
  auto read = protocol::read_chat_request(*body, reading(model_));
  if (!read) return std::move(read).error();
  patched_ = std::move(*body);
  request = std::move(*read);
  request.choices = choices;
  return {};
}

void ChatExchange::fill(TurnRequest& turn, bool) {
  fill_in(request, turn);
  turn.chat = patched_.empty() ? *body_ : patched_;
  for (auto& message : turn.messages) protocol::drop_reserved(message);
}

std::unique_ptr<AnswerForm> ChatExchange::answer(const protocol::ChatHead& head) {
  return std::make_unique<ChatForm>(model_, head, request);
}

}  // namespace verbatim::gateway
