#include "gateway/conversations_endpoint.h"

#include "base/cancel.h"
#include "gateway/conversation_bodies.h"
#include "gateway/response_items.h"
#include "gateway/responses_endpoint.h"
#include "gateway/turn_endpoint.h"
#include "json/writer.h"

namespace verbatim::gateway {

using base::ErrorKind;
using base::Result;
using base::Task;
using store::Conversation;
using store::ConversationChange;

namespace {

constexpr std::string_view kJson = "application/json";
constexpr unsigned kIdLetters = 24;

std::string object_of(const Conversation& conversation) {
  json::Writer w;
  w.begin_object().field("id", conversation.id).field("object", "conversation");
  w.field("created_at", conversation.created_ms / 1000);
  w.key("metadata").raw(conversation.metadata).end_object();
  return w.take();
}

base::Error no_such_item(std::string_view id) {
  auto failure =
      base::error(ErrorKind::kNotFound, "the conversation has no item of this id: " + shown_id(id));
  failure.code = "not_found";
  return failure;
}

std::vector<ListedItem> listed(const store::ConversationItems& items) {
  std::vector<ListedItem> list;
  for (const auto& item : items) list.push_back({item->id, item->body});
  return list;
}

}  // namespace

base::Error no_conversation(std::string_view id, std::string_view what) {
  auto failure = base::error(ErrorKind::kNotFound, std::string(what) + ": " + shown_id(id) +
                                                       "; POST /v1/conversations begins one");
  failure.code = "not_found";
  return failure;
}

base::Error conversation_locked() {
  auto failure = base::error(ErrorKind::kConflict,
                             "another request is writing to this conversation: wait for its end, "
                             "and send this one again");
  failure.field = "conversation";
  failure.code = "conversation_locked";
  return failure;
}

Task<Result<Conversation>> ConversationsEndpoint::find(const Caller& caller, std::string id) {
  auto found = co_await store_.conversation(id);
  if (!found) co_return std::move(found).error();
  const bool own = *found && (*found)->owner == caller.owner &&
                   (caller.session_id.empty() || caller.session_id == id);
  if (!own) co_return no_conversation(id);
  co_return std::move(**found);
}

Task<Result<Conversation>> ConversationsEndpoint::write(ConversationChange change) {
  base::CancelSignal unheard;  // a change is done before anybody could stop it
  RunningTurns::Entry entry(running_, runtime_.executor, change.id, unheard);
  if (!entry.reserve()) co_return conversation_locked();
  change.now_ms = runtime_.clock().wall_ms();
  const std::string id = change.id;
  if (!change.added.empty()) {
    const auto there = co_await store_.conversation(id);
    if (!there) co_return there.error();
    if (!*there) co_return no_conversation(id);
    std::uint64_t bytes = 0;
    for (const auto& item : change.added) bytes += item.body.size();
    if (auto status = check_room(**there, change.added.size(), bytes); !status.ok())
      co_return std::move(status).error();
  }
  auto changed = co_await store_.change_conversation(std::move(change));
  co_return std::move(changed);
}

Task<void> ConversationsEndpoint::create(const net::Request& http, net::Responder& responder,
                                         Caller caller) {
  if (auto status = check_not_secret(caller); !status.ok())
    co_return co_await send_error(responder, status.error());
  auto body = read_conversation_body(http.body, ConversationCall::kCreate, model_, runtime_.random);
  if (!body) co_return co_await send_error(responder, body.error());
  Conversation made;
  made.id = "conv_" + base::new_base62_id(runtime_.random, kIdLetters);
  made.created_ms = runtime_.clock().wall_ms();
  made.metadata = body->metadata.value_or("{}");
  store::SessionSpec spec(made.id, made.created_ms);
  spec.owner = std::move(caller.owner);
  ConversationChange first;
  first.id = made.id;
  first.now_ms = made.created_ms;
  first.metadata = made.metadata;
  first.added = std::move(body->items);
  const auto kept = co_await store_.create_conversation(std::move(spec), std::move(first));
  if (!kept.ok()) co_return co_await send_error(responder, kept.error());
  const std::string object = object_of(made);
  (void)co_await responder.send(200, kJson, object);
}

Task<void> ConversationsEndpoint::get(net::Responder& responder, const Caller& caller,
                                      std::string id) {
  const auto found = co_await find(caller, std::move(id));
  if (!found) co_return co_await send_error(responder, found.error());
  const std::string object = object_of(*found);
  (void)co_await responder.send(200, kJson, object);
}

// No item changes: a turn under way is not in its way, nor the other way round.
Task<void> ConversationsEndpoint::update(const net::Request& http, net::Responder& responder,
                                         const Caller& caller, std::string id) {
  auto body = read_conversation_body(http.body, ConversationCall::kUpdate, model_, runtime_.random);
  if (!body) co_return co_await send_error(responder, body.error());
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  ConversationChange change;
  change.id = std::move(id);
  change.now_ms = runtime_.clock().wall_ms();
  change.metadata = std::move(body->metadata);
  const auto changed = co_await store_.change_conversation(std::move(change));
  if (!changed) co_return co_await send_error(responder, changed.error());
  const std::string object = object_of(*changed);
  (void)co_await responder.send(200, kJson, object);
}

Task<void> ConversationsEndpoint::remove(net::Responder& responder, const Caller& caller,
                                         std::string id) {
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  const auto session = co_await store_.session(id);
  if (!session) co_return co_await send_error(responder, session.error());
  if (!session->has_value()) co_return co_await send_error(responder, no_conversation(id));
  const auto ended = co_await sessions_.end(id, (*session)->turns);
  if (!ended.ok()) {
    const bool gone = ended.error().kind == ErrorKind::kNotFound;
    co_return co_await send_error(responder, gone ? no_conversation(id) : ended.error());
  }
  json::Writer w;
  w.begin_object().field("id", id).field("object", "conversation.deleted");
  w.field("deleted", true).end_object();
  (void)co_await responder.send(200, kJson, w.text());
}

Task<void> ConversationsEndpoint::add_items(const net::Request& http, net::Responder& responder,
                                            const Caller& caller, std::string id) {
  auto body =
      read_conversation_body(http.body, ConversationCall::kAddItems, model_, runtime_.random);
  if (!body) co_return co_await send_error(responder, body.error());
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  std::vector<ListedItem> list;
  for (const auto& item : body->items) list.push_back({item.id, item.body});
  const std::string shown = write_item_list(list, false);
  ConversationChange change;
  change.id = std::move(id);
  change.added = std::move(body->items);
  const auto changed = co_await write(std::move(change));
  if (!changed) co_return co_await send_error(responder, changed.error());
  (void)co_await responder.send(200, kJson, shown);
}

Task<void> ConversationsEndpoint::list_items(const net::Request& http, net::Responder& responder,
                                             const Caller& caller, std::string id) {
  const auto page = read_item_page(http.query);
  if (!page) co_return co_await send_error(responder, page.error());
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  store::ItemQuery query;
  query.conversation = std::move(id);
  if (!page->after.empty()) {
    store::ItemQuery cursor;
    cursor.conversation = query.conversation;
    cursor.ids = {page->after};
    const auto last = co_await store_.conversation_items(std::move(cursor));
    if (!last) co_return co_await send_error(responder, last.error());
    if (last->empty()) {
      auto failure = no_such_item(page->after);
      failure.field = "after";
      co_return co_await send_error(responder, failure);
    }
    query.behind = last->front()->seq;
  }
  query.limit = page->limit + 1;  // one more tells whether there are more
  query.descending = page->descending;
  auto items = co_await store_.conversation_items(std::move(query));
  if (!items) co_return co_await send_error(responder, items.error());
  const bool more = items->size() > page->limit;
  if (more) items->pop_back();
  const std::string list = write_item_list(listed(*items), more);
  (void)co_await responder.send(200, kJson, list);
}

Task<void> ConversationsEndpoint::get_item(net::Responder& responder, const Caller& caller,
                                           std::string id, std::string item) {
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  store::ItemQuery query;
  query.conversation = std::move(id);
  query.ids = {item};
  const auto items = co_await store_.conversation_items(std::move(query));
  if (!items) co_return co_await send_error(responder, items.error());
  if (items->empty()) co_return co_await send_error(responder, no_such_item(item));
  (void)co_await responder.send(200, kJson, items->front()->body);
}

Task<void> ConversationsEndpoint::remove_item(net::Responder& responder, const Caller& caller,
                                              std::string id, std::string item) {
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  ConversationChange change;
  change.id = std::move(id);
  change.removed = std::move(item);
  const auto changed = co_await write(std::move(change));
  if (!changed) co_return co_await send_error(responder, changed.error());
  const std::string object = object_of(*changed);
  (void)co_await responder.send(200, kJson, object);
}

}  // namespace verbatim::gateway
