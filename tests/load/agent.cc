#include "load/agent.h"

#include <array>

#include "base/random.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::load {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

namespace {

constexpr base::Duration kPatience = std::chrono::seconds(120);
constexpr std::size_t kMaxAnswer = std::size_t{64} << 20;
constexpr std::string_view kEnd = "]}";

constexpr std::array<std::string_view, 32> kWords{
    "what", "is",   "the",   "weather", "in",   "Rome",  "and",   "Paris", "which", "of", "them",
    "was",  "warm", "today", "then",    "how",  "much",  "rain",  "wind",  "fell",  "or", "came",
    "over", "a",    "week",  "near",    "city", "north", "south", "you",   "think", "so"};

std::string message_json(std::string_view role, std::string_view text) {
  json::Writer w;
  w.begin_object().field("role", role).field("content", text).end_object();
  return w.take();
}

}  // namespace

Task<Result<std::string>> Gateway::call(std::string_view method, std::string target,
                                        std::vector<std::string_view> body) {
  net::ClientRequest request;
  request.endpoint = url_.endpoint;
  request.method = method;
  const std::string path = url_.base_path + target;
  request.target = path;
  request.headers.add("Content-Type", "application/json");
  request.body = std::move(body);
  const auto deadline = runtime_.clock().now() + kPatience;
  auto response = co_await client_.request(request, deadline);
  if (!response) co_return std::move(response).error();
  auto answer = co_await response->read_all(kMaxAnswer, deadline);
  if (!answer || response->status() / 100 == 2) co_return std::move(answer);
  co_return base::error(ErrorKind::kInternal, std::string(method) + " " + target + ": " +
                                                  std::to_string(response->status()) + " " +
                                                  answer->substr(0, 300));
}

Task<Status> Agent::begin(Gateway& gateway) {
  std::vector<std::string_view> nothing{"{}"};
  const auto made = co_await gateway.call("POST", "/sessions", std::move(nothing));
  if (!made) co_return made.error();
  const auto parsed = json::Document::parse(*made);
  const auto id =
      parsed && parsed->root().is_object() ? parsed->root().get("session_id") : std::nullopt;
  if (!id || !id->is_string()) co_return wrong("a session without session_id: " + *made);
  session_ = id->string();
  json::Writer w;
  w.begin_object().field("model", shape_->model);
  w.field("max_tokens", std::uint64_t{shape_->max_tokens}).key("messages").begin_array();
  body_ = w.take() + message_json("system", "You are a helpful agent.");
  co_return Status();
}

std::string Agent::question() const {
  base::SeededRandom random(number_ << 20 | asked_);
  std::string text = "Question " + std::to_string(asked_) + ":";
  for (unsigned i = 0; i < shape_->words; ++i) {
    text += ' ';
    text += kWords[random.below(kWords.size())];
  }
  return text;
}

Task<Status> Agent::turn(Gateway& gateway) {
  if (session_.empty()) {
    auto begun = co_await begin(gateway);
    if (!begun.ok()) co_return begun;
  }
  ++asked_;
  const std::string text = question();
  text_bytes_ += text.size();
  body_ += ',' + message_json("user", text);
  std::vector<std::string_view> body{body_, kEnd};
  auto answer = co_await gateway.call("POST", "/sessions/" + session_ + "/v1/chat/completions",
                                      std::move(body));
  if (!answer) co_return std::move(answer).error();
  co_return keep(std::move(*answer));
}

Status Agent::keep(std::string answer) {
  const auto parsed = json::Document::parse(std::move(answer));
  if (!parsed) return wrong("an answer that is no JSON: " + parsed.error().message);
  const auto root = parsed->root();
  const auto choices = root.is_object() ? root.get("choices") : std::nullopt;
  const auto usage = root.is_object() ? root.get("usage") : std::nullopt;
  if (!choices || !choices->is_array() || choices->empty() || !usage || !usage->is_object())
    return wrong("an answer without choices or usage: " + std::string(root.raw().substr(0, 300)));
  const auto message = (*choices->begin()).value.get("message");
  const auto prompt = usage->get("prompt_tokens");
  const auto sampled = usage->get("completion_tokens");
  if (!message || !message->is_object() || !prompt || !sampled) {
    return wrong("an answer without message or counts: " + std::string(root.raw().substr(0, 300)));
  }
  if (const auto content = message->get("content"); content && content->is_string())
    text_bytes_ += content->string().size();
  tokens_ =
      static_cast<std::uint64_t>(prompt->integer().value_or(0) + sampled->integer().value_or(0));
  body_ += ',';
  body_ += message->raw();
  return {};
}

Task<Status> Agent::leave(Gateway& gateway) {
  if (shape_->checked) {
    auto checked = co_await check(gateway);
    if (!checked.ok()) co_return checked;
  }
  if (!shape_->deleted) co_return Status();
  const auto done = co_await gateway.call("DELETE", "/sessions/" + session_, {});
  co_return done ? Status() : Status(done.error());
}

Task<Status> Agent::check(Gateway& gateway) {
  auto answer = co_await gateway.call("GET", "/sessions/" + session_ + "/tree", {});
  if (!answer) co_return std::move(answer).error();
  const auto parsed = json::Document::parse(std::move(*answer));
  if (!parsed) co_return wrong("a tree that is no JSON: " + parsed.error().message);
  const auto report = parsed->root().get("report");
  const auto count = [&report](std::string_view name) {
    const auto value = report ? report->get(name) : std::nullopt;
    return value ? value->integer().value_or(-1) : -1;
  };
  if (count("started") != 1 || count("attached") != std::int64_t{asked_} - 1 ||
      count("branched") != 0 || count("restarted") != 0)
    co_return wrong("not one line of " + std::to_string(asked_) +
                    " turns: " + std::string(report ? report->raw() : "no report"));
  co_return Status();
}

base::Error Agent::wrong(const std::string& what) const {
  return base::error(ErrorKind::kInternal, "session " + session_ + ": " + what);
}

}  // namespace verbatim::load
