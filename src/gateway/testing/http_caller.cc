#include "gateway/testing/http_caller.h"

#include <cstdlib>
#include <optional>

#include "net/sse.h"

namespace verbatim::gateway::testing {

std::string Answer::header(std::string_view name) const {
  return std::string(headers.find(name));
}

std::vector<std::string> Answer::events() const {
  std::vector<std::string> payloads;
  net::SseReader reader(std::size_t{1} << 20);
  (void)reader.feed(body, [&](const net::SseEvent& event) {
    payloads.emplace_back(event.data);
    return base::Status();
  });
  return payloads;
}

std::string Answer::text_at(const std::string& json, const std::vector<std::string>& path) {
  const auto doc = json::Document::parse(json);
  if (!doc) return {};
  std::optional<json::Value> value = doc->root();
  for (const auto& step : path) {
    if (value->is_object()) {
      value = value->find(step);
    } else if (value->is_array()) {
      std::size_t left = std::strtoul(step.c_str(), nullptr, 10);
      std::optional<json::Value> element;
      for (const auto member : *value) {
        if (left-- == 0) element = member.value;
      }
      value = element;
    } else {
      return {};
    }
    if (!value) return {};
  }
  return value->is_string() ? value->string() : std::string(value->raw());
}

base::Task<Answer> HttpCaller::call(std::string method, std::string path, std::string body) {
  net::ClientRequest request;
  request.endpoint = {"gateway", port_, false};
  request.method = method;
  request.target = path;
  request.headers = headers;
  if (!body.empty()) {
    request.headers.add("Content-Type", "application/json");
    request.body = {body};
  }
  request.cancel = hang_up;
  Answer answer;
  auto response = co_await client_.request(request, base::kNever);
  if (!response) {
    answer.cut = true;
    co_return std::move(answer);
  }
  answer.status = response->status();
  answer.headers = response->headers();
  std::optional<base::CancelHook> hook;
  if (hang_up != nullptr) hook.emplace(*hang_up, [&response] { response->close(); });
  for (;;) {
    auto bytes = co_await response->read();
    answer.cut = !bytes.ok();
    if (!bytes.ok() || bytes->empty()) break;
    answer.body += *bytes;
    answer.pieces.push_back({runtime_.clock().now(), std::string(*bytes)});
  }
  co_return std::move(answer);
}

}  // namespace verbatim::gateway::testing
