#include "gateway/responses_endpoint.h"

#include <algorithm>
#include <array>
#include <vector>

#include "gateway/query.h"
#include "gateway/response_items.h"
#include "gateway/turn_endpoint.h"
#include "json/value.h"
#include "json/writer.h"
#include "protocol/typed.h"

namespace verbatim::gateway {

using base::ErrorKind;
using base::Result;
using base::Task;

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::uint64_t kMaxPage = 100;
// What a client may ask to have included: all that there is of it always is.
constexpr std::array<std::string_view, 8> kIncluded{
    "web_search_call.action.sources", "web_search_call.results",
    "code_interpreter_call.outputs",  "computer_call_output.output.image_url",
    "file_search_call.results",       "message.input_image.image_url",
    "message.output_text.logprobs",   "reasoning.encrypted_content"};

base::Error not_kept(const std::string& id) {
  auto failure =
      base::error(ErrorKind::kNotFound, "no response of this id is kept: " + shown_id(id) +
                                            "; it was never stored, or is deleted");
  failure.code = "not_found";
  return failure;
}

}  // namespace

Task<Result<store::StoredResponsePtr>> ResponsesEndpoint::find(const Caller& caller,
                                                               std::string id) {
  auto found = co_await store_.response(id);
  if (!found) co_return found;
  if (!is_shown(found->get(), caller.owner, caller.session_id)) co_return not_kept(id);
  co_return found;
}

Task<void> ResponsesEndpoint::get(const net::Request& http, net::Responder& responder,
                                  const Caller& caller, std::string id) {
  const auto parameters = query_parameters(http.query);
  if (!parameters) co_return co_await send_error(responder, parameters.error());
  const auto stream = parameters->find("stream");
  if (stream != parameters->end() && stream->second != "false") {
    auto failure =
        base::error(ErrorKind::kUnsupported,
                    "only a response in the background can be streamed again; leave it out");
    failure.field = "stream";
    co_return co_await send_error(responder, failure);
  }
  const auto found = co_await find(caller, std::move(id));
  if (!found) co_return co_await send_error(responder, found.error());
  (void)co_await responder.send(200, kJson, (*found)->body);
}

Task<void> ResponsesEndpoint::remove(net::Responder& responder, const Caller& caller,
                                     std::string id) {
  const auto found = co_await find(caller, id);
  if (!found) co_return co_await send_error(responder, found.error());
  const auto deleted = co_await store_.delete_response(id);
  if (!deleted) co_return co_await send_error(responder, deleted.error());
  if (!*deleted) co_return co_await send_error(responder, not_kept(id));
  json::Writer w;
  w.begin_object().field("id", id).field("object", "response").field("deleted", true).end_object();
  (void)co_await responder.send(200, kJson, w.text());
}

Task<void> ResponsesEndpoint::input_items(const net::Request& http, net::Responder& responder,
                                          const Caller& caller, std::string id) {
  const auto page = read_item_page(http.query);
  if (!page) co_return co_await send_error(responder, page.error());
  const auto found = co_await find(caller, std::move(id));
  if (!found) co_return co_await send_error(responder, found.error());
  const auto body = write_item_page((*found)->input, *page);
  if (!body) co_return co_await send_error(responder, body.error());
  (void)co_await responder.send(200, kJson, *body);
}

Result<ItemPage> read_item_page(std::string_view query) {
  ItemPage page;
  const auto parameters = query_parameters(query);
  if (!parameters) return parameters.error();
  for (const auto& [name, value] : *parameters) {
    if (name == "limit") {
      if (auto s = read_number(value, "limit", 1, kMaxPage, page.limit); !s.ok())
        return std::move(s).error();
    } else if (name == "order") {
      if (value != "asc" && value != "desc")
        return base::invalid("order", "expected asc or desc, found " + shown_id(value));
      page.descending = value == "desc";
    } else if (name == "after") {
      page.after = value;
    } else if (name == "include" || name == "include[]") {
      if (std::find(kIncluded.begin(), kIncluded.end(), value) == kIncluded.end())
        return base::invalid("include", "unknown value " + shown_id(value));
    } else {
      return base::invalid(name.substr(0, kMaxShown),
                           "unknown parameter; allowed: limit, order, after, include");
    }
  }
  return page;
}

Result<std::string> write_item_page(const std::string& items, const ItemPage& page) {
  const auto parsed = json::Document::parse(items);
  if (!parsed) return parsed.error();
  std::vector<json::Value> all;
  for (const auto& item : parsed->root()) all.push_back(item.value);
  if (page.descending) std::reverse(all.begin(), all.end());
  auto begin = all.begin();
  if (!page.after.empty()) {
    begin = std::find_if(all.begin(), all.end(), [&](const auto& item) {
      return protocol::text_or_nothing(item, "id") == page.after;
    });
    if (begin == all.end()) {
      auto failure = base::error(ErrorKind::kNotFound,
                                 "no item of this id is listed: " + shown_id(page.after));
      failure.field = "after";
      return failure;
    }
    ++begin;
  }
  const auto left = static_cast<std::uint64_t>(all.end() - begin);
  const auto end = begin + static_cast<std::ptrdiff_t>(std::min(left, page.limit));
  std::vector<ListedItem> items_of_page;
  for (auto it = begin; it != end; ++it)
    items_of_page.push_back({protocol::text_or_nothing(*it, "id"), it->raw()});
  return write_item_list(items_of_page, end != all.end());
}

std::string write_item_list(const std::vector<ListedItem>& items, bool more) {
  json::Writer w;
  w.begin_object().field("object", "list").key("data").begin_array();
  for (const auto& item : items) w.raw(item.body);
  w.end_array();
  items.empty() ? w.key("first_id").null() : w.field("first_id", items.front().id);
  items.empty() ? w.key("last_id").null() : w.field("last_id", items.back().id);
  w.field("has_more", more).end_object();
  return w.take();
}

}  // namespace verbatim::gateway
