#include "gateway/conversation_history.h"

#include <algorithm>

#include "gateway/conversation_bodies.h"
#include "gateway/conversations_endpoint.h"
#include "json/value.h"
#include "protocol/typed.h"

namespace verbatim::gateway {

using base::Result;
using base::Status;
using base::Task;

namespace {

// Items of one call of the store: others are let in between.
constexpr std::size_t kPage = 1000;

// None of the ids that the client gives is there already.
Task<Status> check_new(store::Store& store, std::string id, std::vector<std::string> ids) {
  for (std::size_t at = 0; at < ids.size(); at += kPage) {
    store::ItemQuery query;
    query.conversation = id;
    const auto end = std::min(at + kPage, ids.size());
    query.ids.assign(ids.begin() + static_cast<std::ptrdiff_t>(at),
                     ids.begin() + static_cast<std::ptrdiff_t>(end));
    const auto there = co_await store.conversation_items(std::move(query));
    if (!there) co_return there.error();
    if (there->empty()) continue;
    auto failure = base::invalid("input", "the conversation has an item " + there->front()->id +
                                              " already, and its items go before the input: leave "
                                              "it out");
    failure.code = "item_already_in_conversation";
    co_return failure;
  }
  co_return Status();
}

Task<Status> read_items(store::Store& store, ConversationHistory& history) {
  store::ItemQuery query;
  query.conversation = history.state.id;
  query.limit = kPage;
  query.behind = history.turn ? history.state.answered : 0;
  if (query.behind == history.state.last) co_return Status();
  for (;;) {
    const auto page = co_await store.conversation_items(query);
    if (!page) co_return page.error();
    for (const auto& item : *page) history.items.push_back(item->body);
    if (page->size() < kPage) co_return Status();
    query.behind = page->back()->seq;
  }
}

}  // namespace

Task<Result<ConversationHistory>> read_history(store::Store& store, std::string id,
                                               std::string owner,
                                               const std::vector<std::string>& input) {
  auto ids = read_item_ids(input, "input");
  if (!ids) co_return std::move(ids).error();
  auto found = co_await store.conversation(id);
  if (!found) co_return std::move(found).error();
  if (!*found || (*found)->owner != owner) co_return no_conversation(id);
  ConversationHistory history;
  history.state = std::move(**found);
  std::uint64_t bytes = 0;
  for (const auto& item : input) bytes += item.size();
  if (auto status = check_room(history.state, input.size(), bytes); !status.ok())
    co_return std::move(status).error();
  auto status = co_await check_new(store, id, std::move(*ids));
  if (!status.ok()) co_return std::move(status).error();
  if (history.state.turn != 0) {
    auto turns = co_await store.by_ids(std::span(&history.state.turn, 1));
    if (!turns) co_return std::move(turns).error();
    if (!turns->empty()) history.turn = turns->front();
  }
  status = co_await read_items(store, history);
  if (!status.ok()) co_return std::move(status).error();
  co_return history;
}

std::vector<store::ConversationChange::NewItem> output_items(const std::string& response) {
  std::vector<store::ConversationChange::NewItem> items;
  const auto object = json::Document::parse(response, {.max_bytes = SIZE_MAX});
  const auto output = object ? object->root().get("output") : std::nullopt;
  if (!output) return items;
  for (const auto& item : *output)
    items.push_back({protocol::text_or_nothing(item.value, "id"), std::string(item.value.raw())});
  return items;
}

}  // namespace verbatim::gateway
