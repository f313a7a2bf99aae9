// What is asked for besides a history, and how requests end.
#include "api/testing/peer_rows.h"

namespace verbatim::api::testing {
namespace {

using base::Task;
using std::chrono::milliseconds;

const std::vector<std::string> kSlow{
    R"({"text":"one two three","delay_ms":200,"token_delay_ms":500})"};

Messages asking(const Play& play, const char* question) {
  auto messages = play.history;
  messages.push_back(message("user", question));
  return messages;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string one_of_each(const Answer& answer) {
  return std::to_string(answer.headers.count("server")) +
         std::to_string(answer.headers.count("date"));
}

Task<std::string> delete_while_it_runs(Play& p, std::string more) {
  Play::Beside running;
  co_await p.begin(running, Play::body(p.next(), Play::kTools + more));
  co_await p.pass(milliseconds(1000));
  const auto deleted = co_await p.caller.call("DELETE", p.path);
  std::string out = std::to_string(deleted.status) + ", ";
  out += co_await p.end(running);
  co_await p.pass(milliseconds(500));
  const auto& stats = p.gateway.engine->stats();
  if (stats.running == 0) out += ", engine stopped";
  if (!p.gateway.store.dump().empty()) out += ", SOMETHING IS LEFT";
  co_return out;
}

Task<std::string> hang_up(Play& p, std::string more) {
  const auto before = p.gateway.store.dump();
  Play::Beside running;
  co_await p.begin(running, Play::body(p.next(), Play::kTools + more));
  co_await p.pass(milliseconds(1000));
  running.hang_up.fire("the client goes");
  (void)co_await p.end(running);
  co_await p.pass(milliseconds(500));
  std::string out = p.gateway.engine->stats().running == 0 ? "engine stopped" : "IT RUNS ON";
  if (p.gateway.store.dump() != before) out += " CHANGED";
  out += ", ";
  out += co_await p.ask_next();
  co_return out;
}

// Paths of the engine's administration, in a session and without one.
Task<std::string> engine_paths(Play& p) {
  const auto requests = p.gateway.engine->stats();
  std::string out;
  const std::vector<std::string> sessions{"/sessions/unknown", p.path};
  const std::vector<std::string> paths{"/abort_request", "/generate", "/flush_cache"};
  const std::vector<std::string> methods{"GET", "POST", "PUT", "DELETE", "PATCH"};
  for (const auto& session : sessions) {
    for (const auto& path : paths) {
      for (const auto& method : methods) {
        const auto answer = co_await p.caller.call(method, session + path, "{}");
        const auto status = std::to_string(answer.status);
        if (!out.ends_with(status)) out += (out.empty() ? "" : " ") + status;
      }
    }
  }
  const auto& after = p.gateway.engine->stats();
  if (after.requests != requests.requests || after.abort_calls != requests.abort_calls)
    out += " ASKED";
  co_return out;
}

constexpr const char* kDeleted = "204, asked 404, engine stopped";
constexpr const char* kAborted = "engine stopped, 200 3:history";

const std::vector<PeerRow> kRows{
    {"probe 14",
     "two different continuations at once",
     "one answered both and recorded one without a word; here siblings, or a 409 before the engine "
     "runs",
     3,
     {R"({"text":"x","delay_ms":500})", R"({"text":"y"})"},
     [](Play& p) -> Task<std::string> {
       Play::Beside first;
       co_await p.begin(first, Play::body(asking(p, "one")));
       auto out = co_await p.ask(asking(p, "two"));
       out += " + ";
       out += co_await p.end(first);
       co_return out;
     },
     "200 3:history + 200 3:history",
     "409 session_busy + 200 3:history",
     "409 session_busy + 200 3:history"},
    {"probe 21", "the session is deleted during a generation",
     "the turn was answered with a 200 and not recorded, or with a 409, and the engine ran on", 3,
     kSlow, [](Play& p) -> Task<std::string> { return delete_while_it_runs(p, ""); }, kDeleted,
     kDeleted, kDeleted},
    {"probe 22", "the client hangs up",
     "the engine ran on, and a turn that nobody got was recorded", 3, kSlow,
     [](Play& p) -> Task<std::string> { return hang_up(p, ""); }, kAborted, kAborted, kAborted},
    {"probe 35",
     "messages a string, or a list of numbers",
     "500",
     3,
     {},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.send(R"({"messages":"hi"})");
       out += ", ";
       out += co_await p.send(R"({"messages":[1,2]})");
       co_return out;
     },
     "400 messages, 400 messages[0]",
     "400 messages, 400 messages[0]",
     "400 messages, 400 messages[0]"},
    {"probe 36",
     "no messages, in a new session",
     "500",
     0,
     {},
     [](Play& p) -> Task<std::string> { return p.send(R"({"messages":[]})"); },
     "400 messages",
     "400 messages",
     "400 messages"},
    {"probe 39",
     "n = 2",
     "passed on, and the second answer lost; each choice is a turn of its own",
     3,
     {R"({"text":"x"})", R"({"text":"y"})"},
     [](Play& p) -> Task<std::string> {
       return p.ask(p.next(), std::string(Play::kTools) + ",\"n\":2");
     },
     "200 3:history 3:history",
     "400 n",
     "400 n"},
    {"probe 40",
     "no model named, or any other",
     "as they: the gateway serves one, and names it as the client does",
     3,
     {R"({"text":"x"})"},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.ask(p.next(), std::string(Play::kTools) + R"(,"model":"any")");
       co_return out + " as " + p.last.text("model");
     },
     "200 3:history as any",
     "200 3:history as any",
     "200 3:history as any"},
    {"probe 43",
     "stream: true",
     "one event behind the whole answer, or no stream at all; here events as the ids come",
     3,
     {R"({"text":"one two three four","token_delay_ms":100})"},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.ask(p.next(), std::string(Play::kTools) + R"(,"stream":true)");
       std::size_t times = 0;
       base::MonoTime at;
       for (const auto& piece : p.last.pieces) {
         if (piece.at > at) ++times;
         at = piece.at;
       }
       if (times > 3) out += ", over time";
       if (p.last.events().back() == "[DONE]") out += ", " + p.last.header("content-type");
       co_return out;
     },
     "200 3:history, over time, text/event-stream",
     "200 3:history, over time, text/event-stream",
     "200 3:history, over time, text/event-stream"},
    {"probe 44",
     "an administrative path of the engine, in a session or none",
     "passed on to the engine: nothing but what is listed is served",
     3,
     {},
     engine_paths,
     "404",
     "404",
     "404"},
    {"probe 45",
     "Server and Date of an answer",
     "twice each by one of them, which some clients refuse",
     3,
     {R"({"text":"x"})", R"({"status":429,"headers":{"server":"up","date":"now"},"body":{}})"},
     [](Play& p) -> Task<std::string> {
       (void)co_await p.ask_next();
       auto out = one_of_each(p.last);
       (void)co_await p.ask_next();
       out += " " + one_of_each(p.last);
       (void)co_await p.send("{");
       out += " " + one_of_each(p.last);
       const auto view = co_await p.caller.get(p.path);
       co_return out + " " + one_of_each(view);
     },
     "11 11 11 11",
     "11 11 11 11",
     "11 11 11 11"},
    {"probe 46",
     "the connection behind an error",
     "closed behind an unhandled 500, so that the client's next request failed",
     3,
     {R"({"status":500,"body":{}})", R"({"text":"x"})"},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.ask_next();
       if (p.last.header("connection") == "close") out += " closed";
       out += ", ";
       out += co_await p.send("{");
       if (p.last.header("connection") == "close") out += " closed";
       out += ", ";
       out += co_await p.ask_next();
       co_return out + ", " + std::to_string(p.gateway.instance->connections()) + " connection";
     },
     "asked 500 engine_error, 400, 200 3:history, 1 connection",
     "asked 500 engine_error, 400, 200 3:history, 1 connection",
     "asked 500 engine_error, 400, 200 3:history, 1 connection"},
    {"probe 47",
     "what the record says of a turn that was cut by length and gone on behind",
     "a mismatch that is none: its audit renders anew what has no close token yet; here a line is "
     "compared with the line before it",
     0,
     {open_step("one two"), R"({"text":"x"})"},
     [](Play& p) -> Task<std::string> {
       const Messages messages(1, message("user", "a"));
       (void)co_await p.ask(messages);
       auto out = co_await p.go_on(messages, "b");
       const auto id = p.path.substr(p.path.rfind('/') + 1);
       const auto lines = p.gateway.world.files.read("records/" + id + ".jsonl", 1 << 20);
       const std::string text = lines ? *lines : "";
       co_return out + ", " + std::to_string(count(text, "\"prefix_stable\":true")) + " stable, " +
           std::to_string(count(text, "\"prefix_stable\":false")) + " not";
     },
     "200 1:history, 2 stable, 0 not",
     "200 1:history, 2 stable, 0 not",
     "200 1:history, 2 stable, 0 not"},
};

}  // namespace

std::span<const PeerRow> peer_requests() {
  return kRows;
}

}  // namespace verbatim::api::testing
