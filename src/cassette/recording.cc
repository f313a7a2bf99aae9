#include "cassette/recording.h"

#include <algorithm>
#include <utility>

#include "cassette/normal_request.h"
#include "cassette/secrets.h"
#include "cassette/sse_lines.h"
#include "json/value.h"
#include "json/writer.h"
#include "net/sse.h"

namespace verbatim::cassette {
namespace {

using base::Result;
using base::Status;

// An error among the events of a stream, as the servers we know write them.
std::string stream_error(const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    const auto data = data_of(line);
    if (data.data() == nullptr || data == "[DONE]") continue;
    const auto event = json::Document::parse(std::string(data));
    if (!event || !event->root().is_object()) continue;
    const auto type = event->root().get("type");
    const bool named = type && type->is_string() && type->string() == "error";
    if (named || (!type && event->root().get("error"))) return std::string(data);
  }
  return {};
}

Result<RecordedResponse> read_answer(const Recording::Answer& answer) {
  RecordedResponse out;
  out.status = answer.status;
  out.headers = response_headers(*answer.headers);
  out.transport_error = answer.transport_error;
  const auto type = header(out.headers, "content-type");
  if (answer.headers->has("content-encoding"))
    return base::error(base::ErrorKind::kEngine, "the answer is compressed");
  if (net::is_event_stream(type)) {
    out.sse = cut_lines(answer.body);
    out.stream_error = stream_error(*out.sse);
    return out;
  }
  if (is_json(type)) {
    out.body = std::string(answer.body);
  } else {
    out.body.emplace();
    json::append_string(*out.body, answer.body);
  }
  return out;
}

}  // namespace

Result<std::optional<std::size_t>> Recording::ask(const net::Request& request) {
  if (options_.posts_only && request.method != "POST") return std::optional<std::size_t>();
  auto query = read_query(request.query);
  const auto normal = normalise(request.method, request.path, query, request.body);
  if (!normal) return normal.error();
  std::string key;
  if (options_.once) {
    key = normal->method + " " + normal->path + " " + normal->body;
    for (const auto& [name, value] : normal->query)
      key.append(" ").append(name).append("=").append(value);
    if (recorded_.contains(key)) return std::optional<std::size_t>();
  }
  auto& slot = slots_.emplace_back();
  slot.key = std::move(key);
  auto& turn = slot.turn;
  turn.request.method = std::string(request.method);
  turn.request.path = std::string(request.path);
  turn.request.query = std::move(query);
  turn.request.headers = request_headers(request.headers);
  turn.request.body = request.body.empty() ? "{}" : request.body;
  return std::optional<std::size_t>(slots_.size() - 1);
}

Status Recording::answer(std::size_t number, const Answer& answer) {
  auto response = read_answer(answer);
  if (!response) return std::move(response).error();
  Slot tried = slots_[number];
  tried.turn.filename = "t" + std::to_string(number + 1);
  tried.turn.response = std::move(*response);
  Cassette alone{options_.provider, {tried.turn}};
  const auto text = write_cassette(alone);
  if (!text) return text.error();
  // Another may have been asked while this was on its way.
  if (options_.once && !recorded_.insert(tried.key).second) return {};
  tried.answered = true;
  slots_[number] = std::move(tried);
  return {};
}

std::size_t Recording::size() const {
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.answered; }));
}

Cassette Recording::cassette() const {
  Cassette out{options_.provider, {}};
  for (const auto& slot : slots_) {
    if (!slot.answered) continue;
    out.turns.push_back(slot.turn);
    out.turns.back().filename = "t" + std::to_string(out.turns.size());
  }
  return out;
}

Result<std::string> Recording::text() const {
  return write_cassette(cassette());
}

}  // namespace verbatim::cassette
