#include "gateway/sessions_endpoint.h"

#include <optional>

#include "base/random.h"
#include "gateway/doors.h"
#include "gateway/query.h"
#include "gateway/record_line.h"
#include "gateway/session_options.h"
#include "gateway/session_page.h"
#include "gateway/session_view.h"
#include "json/writer.h"

namespace verbatim::gateway {

using base::ErrorKind;
using base::invalid;
using base::Result;
using base::Status;
using base::Task;

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::uint64_t kPage = 100;
constexpr std::uint64_t kMaxPage = 1000;
constexpr unsigned kNonceLetters = 22;  // 128 bits

// One parameter of the query.
Status read_parameter(std::string_view name, std::string_view value, store::SessionQuery& query) {
  if (name == "limit") {
    std::uint64_t limit = 0;
    if (auto status = read_number(value, "limit", 1, kMaxPage, limit); !status.ok()) return status;
    query.limit = limit;
    return {};
  }
  if (name == "after") return read_number(value, "after", 0, INT64_MAX, query.after);
  if (name == "implicit") {
    if (value != "true" && value != "false")
      return invalid("implicit", "expected true or false, found \"" +
                                     std::string(value.substr(0, kMaxShown)) + "\"");
    query.implicit = value == "true";
    return {};
  }
  return invalid(std::string(name.substr(0, kMaxShown)),
                 "unknown parameter; allowed: limit, after, implicit");
}

Result<store::SessionQuery> read_query(std::string_view text, const Caller& caller) {
  store::SessionQuery query;
  query.owner = caller.owner;
  query.limit = kPage;
  const auto parameters = query_parameters(text);
  if (!parameters) return parameters.error();
  for (const auto& [name, value] : *parameters) {
    if (auto status = read_parameter(name, value, query); !status.ok())
      return std::move(status).error();
  }
  return query;
}

}  // namespace

Status check_not_secret(const Caller& caller) {
  if (caller.session_id.empty()) return {};
  return base::error(ErrorKind::kUnauthorized,
                     "a session's secret opens the chat of its session alone: use a key of the "
                     "operator here");
}

Task<Result<store::SessionInfo>> session_of(store::Store& store, const Caller& caller,
                                            std::string id) {
  const auto info = co_await store.session(id);
  if (!info) co_return info.error();
  const bool own = info->has_value() && (*info)->spec->owner == caller.owner &&
                   (caller.session_id.empty() || caller.session_id == id);
  if (own) co_return **info;
  co_return no_session(id);
}

Task<Result<store::SessionInfo>> SessionsEndpoint::find(const Caller& caller, std::string id) {
  auto status = check_not_secret(caller);
  if (!status.ok()) co_return std::move(status).error();
  co_return co_await session_of(store_, caller, std::move(id));
}

Task<void> SessionsEndpoint::create(const net::Request& http, net::Responder& responder,
                                    Caller caller) {
  auto status = check_not_secret(caller);
  if (!status.ok()) co_return co_await send_error(responder, status.error());
  auto asked = read_session_request(http.body, model_);
  if (!asked) co_return co_await send_error(responder, asked.error());
  status = chat_.takes(asked->options);
  if (!status.ok()) co_return co_await send_error(responder, status.error());
  store::SessionSpec spec(base::new_hex_id(runtime_.random), runtime_.clock().wall_ms());
  spec.owner = std::move(caller.owner);
  spec.options = asked->options.text();
  spec.metadata = std::move(asked->metadata);
  std::string secret;
  if (asked->secret) {
    secret = new_secret(runtime_.random);
    spec.secret_hash = secret_hash(secret);
  }
  json::Writer w;
  w.begin_object().field("session_id", spec.id);
  if (!secret.empty()) w.field("secret", secret);
  w.field("mode", name(asked->options.rules.mode)).end_object();
  const auto made = co_await store_.create_session(std::move(spec));
  if (!made.ok()) co_return co_await send_error(responder, made.error());
  (void)co_await responder.send(200, kJson, w.text());
}

Task<void> SessionsEndpoint::list(const net::Request& http, net::Responder& responder,
                                  Caller caller) {
  auto status = check_not_secret(caller);
  if (!status.ok()) co_return co_await send_error(responder, status.error());
  auto query = read_query(http.query, caller);
  if (!query) co_return co_await send_error(responder, query.error());
  const std::size_t limit = query->limit;
  ++query->limit;  // one more tells whether there are more
  auto found = co_await store_.sessions(std::move(*query));
  if (!found) co_return co_await send_error(responder, found.error());
  const bool more = found->size() > limit;
  if (more) found->pop_back();
  (void)co_await responder.send(200, kJson, session_list(*found, more));
}

Task<void> SessionsEndpoint::get(const net::Request& http, net::Responder& responder, Caller caller,
                                 std::string id) {
  const auto info = co_await find(caller, id);
  if (!info) co_return co_await send_error(responder, info.error());
  const auto turns = co_await store_.turns(std::move(id));
  if (!turns) co_return co_await send_error(responder, turns.error());
  if (prefers_page(http.headers.find("accept"))) {
    const std::string nonce = base::new_base62_id(runtime_.random, kNonceLetters);
    const auto page = session_page(*info, *turns, nonce);
    (void)co_await responder.send(200, page_headers(nonce), page);
    co_return;
  }
  const unsigned trim = model_.by_messages() ? 0 : model_.renderer->family().max_trim();
  const auto body = session_view(*info, *turns, trim);
  (void)co_await responder.send(200, kJson, body);
}

Task<void> SessionsEndpoint::tree(net::Responder& responder, Caller caller, std::string id) {
  const auto info = co_await find(caller, id);
  if (!info) co_return co_await send_error(responder, info.error());
  const auto turns = co_await store_.turns(std::move(id));
  if (!turns) co_return co_await send_error(responder, turns.error());
  (void)co_await responder.send(200, kJson, session_tree(*info, *turns));
}

Task<void> SessionsEndpoint::remove(net::Responder& responder, Caller caller, std::string id) {
  const auto info = co_await find(caller, id);
  if (!info) co_return co_await send_error(responder, info.error());
  const auto status = co_await end(std::move(id), info->turns);
  if (!status.ok()) co_return co_await send_error(responder, status.error());
  (void)co_await responder.send(204, kJson, "");
}

Task<Status> SessionsEndpoint::end(std::string id, std::uint64_t turns) {
  if (recorder_ != nullptr) recorder_->ending(id);
  auto status = co_await store_.delete_session(id);
  if (!status.ok()) {
    if (recorder_ != nullptr) co_await recorder_->not_ended(runtime_.executor, id);
    auto failure = std::move(status).error();
    if (failure.kind == ErrorKind::kUnavailable)
      failure.message = "nothing was deleted: " + failure.message;
    co_return failure;
  }
  running_.cancel(id);
  if (recorder_ != nullptr)
    co_await recorder_->session_ended(runtime_.executor, std::move(id), kEndDeleted, turns);
  co_return Status();
}

}  // namespace verbatim::gateway
