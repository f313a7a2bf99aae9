#include "gateway/responses_exchange.h"

#include <algorithm>
#include <utility>

#include "gateway/conversation_history.h"
#include "gateway/response_items.h"
#include "gateway/responses_form.h"
#include "protocol/chat_history.h"
#include "protocol/responses_input.h"
#include "protocol/responses_object.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

namespace {

// What of a request holds for those that go on from it, by its names.
constexpr const char* kCarried[] = {"tools", "tool_choice"};

// Said also where nobody said it yet: a repeat finds it in the answer, and says it at the same
// place.
std::string carried_by(const store::Conversation& conversation) {
  return conversation.carried.empty() ? R"({"tools":[],"tool_choice":"auto"})"
                                      : conversation.carried;
}

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
Status ResponsesExchange::inherit(const std::string& previous) {
  const auto body = json::Document::parse(previous);
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

std::string ResponsesExchange::carried() const {
  json::Writer w;
  w.begin_object();
  for (const char* name : kCarried) {
    for (const auto& [echoed, raw] : asked_.echo) {
      if (echoed == name) w.key(name).raw(raw);
    }
  }
  w.end_object();
  return w.take();
}

Task<Status> ResponsesExchange::resolve(TurnRequest& turn, store::Store& store) {
  owner_ = turn.owner;
  Status status;
  if (!asked_.conversation.empty()) {
    status = co_await resolve_conversation(store);
  } else if (!asked_.previous_response_id.empty()) {
    status = co_await resolve_previous(turn, store);
  }
  if (!status.ok()) co_return status;
  co_return check_calls(previous_, asked_.messages);
}

// A conversation has gone on since; what the first of them took over stands in its answer.
Task<Status> ResponsesExchange::resolve_repeat(TurnRequest& turn, store::Store& store,
                                               std::string id) {
  if (asked_.conversation.empty()) co_return co_await resolve(turn, store);
  owner_ = turn.owner;
  const auto given = co_await store.response(std::move(id));
  if (!given) co_return given.error();
  if (*given) co_return inherit((*given)->body);
  // It runs still, or is not stored.
  const auto conversation = co_await store.conversation(asked_.conversation);
  if (!conversation) co_return conversation.error();
  co_return *conversation ? inherit(carried_by(**conversation)) : Status();
}

Task<Status> ResponsesExchange::resolve_previous(const TurnRequest& turn, store::Store& store) {
  const std::string& id = asked_.previous_response_id;
  const auto found = co_await store.response(id);
  if (!found) co_return found.error();
  const auto& previous = *found;
  // In a session of its own door only what was said there is known.
  const bool own_door = turn.session_use == store::SessionUse::kExisting;
  if (!is_shown(previous.get(), owner_, own_door ? turn.session_id : "")) co_return no_response(id);
  const std::uint64_t number = previous->turn;
  const auto turns = co_await store.by_ids(std::span(&number, 1));
  if (!turns) co_return turns.error();
  if (turns->empty()) co_return no_response(id);
  previous_ = turns->front();
  history_instructed_ = previous->instructed;
  co_return inherit(previous->body);
}

// Items that a turn has answered are in its path, as they were sampled; all others are read as
// input that goes before this one.
Task<Status> ResponsesExchange::resolve_conversation(store::Store& store) {
  auto history = co_await read_history(store, asked_.conversation, owner_, asked_.items);
  if (!history) co_return std::move(history).error();
  previous_ = history->turn;
  history_instructed_ = previous_ && history->state.instructed;
  change_ = std::make_shared<store::ConversationChange>();
  change_->id = asked_.conversation;
  change_->version = history->state.version;
  if (auto status = inherit(carried_by(history->state)); !status.ok()) co_return status;
  co_return history->items.empty() ? Status() : add_items(history->items);
}

// Read together: items of one answer may stand on both sides.
Status ResponsesExchange::add_items(const std::vector<std::string>& before) {
  json::Writer w;
  w.begin_array();
  for (const auto& item : before) w.raw(item);
  for (const auto& item : asked_.items) w.raw(item);
  w.end_array();
  const auto document = json::Document::parse(w.take(), {.max_bytes = SIZE_MAX});
  if (!document) return document.error();
  auto read =
      protocol::read_input(document->root(), protocol::input_rules(reading(model_).unserved));
  if (!read) {
    auto failure = std::move(read).error();
    failure.message = "with the items of the conversation in front, " + failure.message;
    return failure;
  }
  asked_.messages = std::move(*read);
  return {};
}

void ResponsesExchange::fill(TurnRequest& turn, bool reads_chat) {
  if (asked_.store || change_) complete_input();
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

// The input as it is listed later, also in the conversation.
void ResponsesExchange::complete_input() {
  json::Writer w;
  w.begin_array();
  for (const auto& raw : asked_.items) {
    auto item = stored_item(raw, random_);
    w.raw(item.body);
    if (change_) change_->added.push_back(std::move(item));
  }
  w.end_array();
  input_ = w.take();
  if (!change_) return;
  store::ConversationChange::Answer answer;
  answer.instructed = asked_.instructions.has_value();
  answer.carried = carried();
  change_->answer = std::move(answer);
}

std::unique_ptr<AnswerForm> ResponsesExchange::answer(const protocol::ChatHead& head) {
  return form(head, request.stream);
}

std::unique_ptr<AnswerForm> ResponsesExchange::keeper(const protocol::ChatHead& head) {
  return asked_.store || change_ ? form(head, false) : nullptr;
}

std::unique_ptr<AnswerForm> ResponsesExchange::form(const protocol::ChatHead& head, bool stream) {
  ResponsePlan plan;
  plan.head.id = head.id;
  plan.head.created = head.created;
  plan.head.model = head.model;
  plan.head.members =
      protocol::response_members(asked_.echo, asked_.previous_response_id, asked_.conversation);
  plan.head.says_completed_at = true;
  plan.head.seals_reasoning = asked_.seal_reasoning;
  plan.head.tools = &asked_.tools;
  plan.stream = stream;
  plan.store = asked_.store;
  plan.instructed = asked_.instructions.has_value();
  plan.owner = owner_;
  plan.input = input_;
  plan.conversation = change_;
  return std::make_unique<ResponsesForm>(model_, std::move(plan));
}

base::Error ResponsesExchange::in_words(base::Error error) const {
  return protocol::in_responses_words(std::move(error));
}

}  // namespace verbatim::gateway
