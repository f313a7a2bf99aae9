#include "cli/demo_agent.h"

#include <utility>

#include "json/dumps.h"
#include "json/writer.h"
#include "net/http_client.h"
#include "net/sse.h"
#include "protocol/chat_reader.h"

namespace verbatim::cli {
namespace {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;
using message::Role;

constexpr base::Duration kPatience = std::chrono::seconds(20);
constexpr std::size_t kMaxEvent = 1U << 20;

constexpr std::string_view kSystem = "You are a weather assistant. Look things up with the tool.";
constexpr std::string_view kQuestions[] = {"What is the weather in Rome?",
                                           "And in Paris? Should I take a coat?"};
constexpr std::string_view kTools =
    R"([{"type":"function","function":{"name":"get_weather","description":"The weather of a city",)"
    R"("parameters":{"type":"object","properties":{"city":{"type":"string"},)"
    R"("days":{"type":"integer"}},"required":["city"]}}}])";

// The tool. It runs in the agent.
std::string get_weather(std::string_view arguments) {
  const auto parsed = json::Document::parse(std::string(arguments));
  const auto city =
      parsed && parsed->root().is_object() ? parsed->root().get("city") : std::nullopt;
  const bool rome = city && city->is_string() && city->string() == "Rome";
  return rome ? R"({"sky": "sunny", "degrees": 24})" : R"({"sky": "rain", "degrees": 9})";
}

// As an agent written in Python would: json.dumps(json.loads(arguments)).
std::string written_anew(const std::string& arguments) {
  const auto parsed = json::Document::parse(arguments);
  return parsed ? json::dumps(parsed->root()) : arguments;
}

class Agent {
 public:
  Agent(base::Runtime& runtime, base::Endpoint gateway)
      : runtime_(runtime), gateway_(std::move(gateway)), client_(runtime) {}

  Task<Status> run() {
    auto status = co_await open_session();
    if (!status.ok()) co_return status;
    say(Role::kSystem, kSystem);
    for (const auto question : kQuestions) {
      say(Role::kUser, question);
      status = co_await answer();
      if (!status.ok()) co_return status;
    }
    co_return Status();
  }
  Task<void> stop() { return client_.stop(); }
  AgentLog take_log() { return std::move(log_); }

 private:
  void say(Role role, std::string_view text, std::string_view call_id = "") {
    json::Writer w;
    w.begin_object().field("role", message::name(role)).field("content", text);
    if (!call_id.empty()) w.field("tool_call_id", call_id);
    w.end_object();
    history_.push_back(w.take());
    log_.said.push_back({role, std::string(text), "", {}});
  }

  // Keeps the answer the way agents do.
  void keep(const message::Folded& turn) {
    json::Writer w;
    w.begin_object().field("role", "assistant").key("content");
    turn.text.empty() ? w.null() : w.string(turn.text);
    if (!turn.calls.empty()) {
      w.key("tool_calls").begin_array();
      for (const auto& call : turn.calls) {
        w.begin_object().field("id", call.native_id).field("type", "function").key("function");
        w.begin_object().field("name", call.name);
        w.field("arguments", written_anew(call.arguments)).end_object().end_object();
      }
      w.end_array();
    }
    w.end_object();
    history_.push_back(w.take());
    log_.said.push_back({Role::kAssistant, turn.text, turn.reasoning, turn.calls});
  }

  [[nodiscard]] std::string request_body() const {
    json::Writer w;
    w.begin_object().field("model", "toy").field("stream", true).key("messages").begin_array();
    for (const auto& message : history_) w.raw(message);
    w.end_array().key("tools").raw(kTools).end_object();
    return w.take();
  }

  Task<Result<net::ClientResponse>> post(std::string target, const std::string& body) {
    net::ClientRequest request;
    request.endpoint = gateway_;
    request.method = "POST";
    request.target = target;
    request.headers.add("Content-Type", "application/json");
    request.body = {body};
    auto response = co_await client_.request(request, deadline());
    if (!response) co_return std::move(response).error();
    if (response->status() == 200) co_return std::move(response);
    auto text = co_await response->read_all(kMaxEvent, deadline());
    co_return base::error(ErrorKind::kInternal, "the gateway answered " +
                                                    std::to_string(response->status()) + ": " +
                                                    (text ? *text : text.error().message));
  }

  Task<Status> open_session() {
    const std::string nothing = "{}";
    auto response = co_await post("/sessions", nothing);
    if (!response) co_return std::move(response).error();
    auto body = co_await response->read_all(kMaxEvent, deadline());
    if (!body) co_return std::move(body).error();
    const auto parsed = json::Document::parse(std::move(*body));
    if (!parsed) co_return parsed.error();
    log_.session_id = parsed->root().get("session_id")->string();
    co_return Status();
  }

  // Turns until the model is content.
  Task<Status> answer() {
    for (;;) {
      log_.requests.push_back(request_body());
      auto turn = co_await stream_turn(log_.requests.back());
      if (!turn) co_return std::move(turn).error();
      keep(*turn);
      if (turn->calls.empty()) co_return Status();
      for (const auto& call : turn->calls)
        say(Role::kTool, get_weather(call.arguments), call.native_id);
    }
  }

  Task<Result<message::Folded>> stream_turn(const std::string& body) {
    auto response = co_await post("/sessions/" + log_.session_id + "/v1/chat/completions", body);
    if (!response) co_return std::move(response).error();
    net::SseReader events(kMaxEvent);
    protocol::ChatStreamReader reader;
    message::Events deltas;
    const net::SseReader::Sink sink = [&](const net::SseEvent& event) {
      return reader.feed(event.data, deltas);
    };
    for (;;) {
      auto bytes = co_await response->read(deadline());
      if (!bytes) co_return std::move(bytes).error();
      if (bytes->empty()) break;
      if (auto status = events.feed(*bytes, sink); !status.ok())
        co_return std::move(status).error();
    }
    if (!reader.done()) co_return base::error(ErrorKind::kInternal, "the stream has no [DONE]");
    co_return reader.result().turn;
  }

  [[nodiscard]] base::MonoTime deadline() const { return runtime_.clock().now() + kPatience; }

  base::Runtime& runtime_;
  base::Endpoint gateway_;
  net::HttpClient client_;
  std::vector<std::string> history_;  // JSON
  AgentLog log_;
};

}  // namespace

std::string_view agent_script() {
  return R"({"steps": [
    {"text": "Let me look that up.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\":\"Rome\",\"days\":1}}\n</tool_call>"},
    {"text": "The weather in Rome is sunny: 24 degrees."},
    {"text": "<think>\nThe same for Paris, so I need the tool again.\n</think>\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\":\"Paris\",\"days\":1}}\n</tool_call>"},
    {"text": "It rains in Paris, 9 degrees. Take a coat, and an umbrella."}
  ]})";
}

Task<Result<AgentLog>> run_agent(base::Runtime& runtime, const base::Endpoint& gateway) {
  Agent agent(runtime, gateway);
  auto status = co_await agent.run();
  co_await agent.stop();
  if (!status.ok()) co_return std::move(status).error();
  co_return agent.take_log();
}

}  // namespace verbatim::cli
