#include "gateway/responses_exchange.h"

#include <algorithm>
#include <utility>

#include "gateway/response_items.h"
#include "gateway/responses_form.h"
#include "protocol/chat_history.h"
#include "protocol/responses_object.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

namespace {

base::Error no_response(const std::string& id) {
  auto failure =
      base::invalid("previous_response_id", "no response of this id is kept: " + shown_id(id) +
                                                "; send the whole conversation as input");
  failure.code = "previous_response_not_found";
  return failure;
}

}  // namespace

Status ResponsesExchange::read(const std::string& body) {
  const auto document = json::Document::parse(body);
  if (!document) return document.error();
  auto asked = protocol::read_responses_request(document->root(), reading(model_).unserved);
  if (!asked) return std::move(asked).error();
  asked_ = std::move(*asked);
  return read_chat(asked_.chat);
}

Status ResponsesExchange::read_chat(const std::string& chat) {
  const auto document = json::Document::parse(chat);
  if (!document) return document.error();
  auto read = protocol::read_chat_parameters(document->root(), reading(model_));
  if (!read) return std::move(read).error();
  request = std::move(*read);
  return {};
}

Status ResponsesExchange::pin(const SessionOptions& options) {
  auto chat = with_session_values(asked_.chat, options);
  if (!chat) return std::move(chat).error();
  asked_.chat = std::move(*chat);
  return read_chat(asked_.chat);
}

// Tools and their choice go on to hold, until a request names others; instructions do not.
Status ResponsesExchange::inherit(const store::StoredResponse& previous) {
  const auto body = json::Document::parse(previous.body);
  if (!body) return body.error();
  const auto& echo = asked_.echo;
  const auto inherited = [&](const char* name) {
    const bool own =
        std::any_of(echo.begin(), echo.end(), [&](const auto& m) { return m.first == name; });
    return own ? std::nullopt : body->root().get(name);
  };
  if (const auto value = inherited("tools")) {
    auto tools = protocol::ResponsesTools::read(*value);
    if (!tools) return std::move(tools).error();
    tools->know(std::move(asked_.tools));  // what a search among the new items found
    asked_.tools = std::move(*tools);
    asked_.echo.emplace_back("tools", value->raw());
  }
  const auto choice = inherited("tool_choice");
  return choice ? inherit_choice(*choice) : Status();
}

// As if this request had said it, where nothing else does. "auto" is what no word means.
Status ResponsesExchange::inherit_choice(const json::Value& choice) {
  asked_.echo.emplace_back("tool_choice", choice.raw());
  const auto chat = json::Document::parse(asked_.chat);
  if (!chat) return chat.error();
  if (choice.raw() == R"("auto")" || chat->root().find("tool_choice")) return {};
  json::Writer w;
  w.begin_object();
  for (const auto& member : chat->root()) w.key(member.name()).raw(member.value.raw());
  w.key("tool_choice");
  protocol::write_chat_choice(w, choice);
  w.end_object();
  asked_.chat = w.take();
  return read_chat(asked_.chat);
}

Task<Status> ResponsesExchange::resolve(TurnRequest& turn, store::Store& store) {
  owner_ = turn.owner;
  const std::string& id = asked_.previous_response_id;
  if (!id.empty()) {
    const auto found = co_await store.response(id);
    if (!found) co_return found.error();
    const auto& previous = *found;
    // In a session of its own door only what was said there is known.
    const bool own_door = turn.session_use == store::SessionUse::kExisting;
    if (!is_shown(previous.get(), owner_, own_door ? turn.session_id : ""))
      co_return no_response(id);
    const std::uint64_t number = previous->turn;
    const auto turns = co_await store.by_ids(std::span(&number, 1));
    if (!turns) co_return turns.error();
    if (turns->empty()) co_return no_response(id);
    previous_ = turns->front();
    history_instructed_ = previous->instructed;
    if (auto status = inherit(*previous); !status.ok()) co_return status;
  }
  co_return check_calls(previous_, asked_.messages);
}

void ResponsesExchange::fill(TurnRequest& turn, bool reads_chat) {
  if (asked_.store) input_ = input_items();
  request.tools = asked_.tools.functions();
  if (asked_.instructions) {
    message::Message instructions;
    instructions.role = message::Role::kSystem;
    instructions.text = *asked_.instructions;
    request.messages.push_back(std::move(instructions));
  }
  if (previous_) {
    auto history = trajectory::messages_of(previous_);
    const std::ptrdiff_t skipped = history_instructed_ ? 1 : 0;
    request.messages.insert(request.messages.end(),
                            std::make_move_iterator(history.begin() + skipped),
                            std::make_move_iterator(history.end()));
  }
  request.messages.insert(request.messages.end(), std::make_move_iterator(asked_.messages.begin()),
                          std::make_move_iterator(asked_.messages.end()));
  fill_in(request, turn);
  turn.parent = previous_;
  if (!reads_chat) return;
  chat_ = chat_body(turn);
  turn.chat = chat_;
}

std::string ResponsesExchange::chat_body(const TurnRequest& turn) const {
  json::Writer w;
  w.begin_object().key("messages").begin_array();
  for (const auto& message : turn.messages) protocol::write_history_message(w, message);
  w.end_array();
  if (!turn.tools.empty()) {
    w.key("tools").begin_array();
    for (const auto& tool : turn.tools) w.raw(tool.raw);
    w.end_array();
  }
  if (const auto rest = json::Document::parse(asked_.chat)) {
    for (const auto& member : rest->root()) w.key(member.name()).raw(member.value.raw());
  }
  w.end_object();
  return w.take();
}

std::string ResponsesExchange::input_items() {
  json::Writer w;
  w.begin_array();
  for (const auto& item : asked_.items) write_stored_item(w, item, random_);
  w.end_array();
  return w.take();
}

std::unique_ptr<AnswerForm> ResponsesExchange::answer(const protocol::ChatHead& head) {
  return form(head, request.stream);
}

std::unique_ptr<AnswerForm> ResponsesExchange::keeper(const protocol::ChatHead& head) {
  return asked_.store ? form(head, false) : nullptr;
}

std::unique_ptr<AnswerForm> ResponsesExchange::form(const protocol::ChatHead& head, bool stream) {
  ResponsePlan plan;
  plan.head.id = head.id;
  plan.head.created = head.created;
  plan.head.model = head.model;
  plan.head.members = protocol::response_members(asked_.echo, asked_.previous_response_id);
  plan.head.says_completed_at = true;
  plan.head.seals_reasoning = asked_.seal_reasoning;
  plan.head.tools = &asked_.tools;
  plan.stream = stream;
  plan.store = asked_.store;
  plan.instructed = asked_.instructions.has_value();
  plan.owner = owner_;
  plan.input = input_;
  return std::make_unique<ResponsesForm>(model_, std::move(plan));
}

base::Error ResponsesExchange::in_words(base::Error error) const {
  return protocol::in_responses_words(std::move(error));
}

}  // namespace verbatim::gateway
