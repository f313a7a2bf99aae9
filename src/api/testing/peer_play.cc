#include "api/testing/peer_play.h"

#include <algorithm>

#include "base/timer.h"
#include "chat/testing/toy_chat.h"
#include "json/writer.h"

namespace verbatim::api::testing {

using base::Task;
using store::TurnPtr;

namespace {

// The error event of a stream, else the body.
std::string error_text(const Answer& answer) {
  for (const auto& event : answer.events()) {
    if (!Answer::text_at(event, {"error", "message"}).empty()) return event;
  }
  return answer.status == 200 ? "" : answer.body;
}

std::string refusal(const std::string& error) {
  const auto member = [&](const char* name) {
    const auto text = Answer::text_at(error, {"error", name});
    return text.empty() || text == "null" ? "" : " " + text;
  };
  const auto code = member("code");
  return code.empty() ? member("param") : code;
}

std::string number(std::size_t value) {
  return std::to_string(value);
}

// Ids of a turn's whole row, put together from what each turn of its path holds.
base::TokenIds row(const store::Turn& turn) {
  base::TokenIds ids;
  if (turn.parent) ids = row(*turn.parent);
  ids.resize(ids.size() - std::min<std::size_t>(turn.parent_trim, ids.size()));
  ids.insert(ids.end(), turn.prompt.begin(), turn.prompt.end());
  ids.insert(ids.end(), turn.completion.begin(), turn.completion.end());
  return ids;
}

template <class List>
bool begins_with(const List& all, const List& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

bool was_served(const store::Turn& turn, const sim::SimEngine& engine) {
  auto prompt = row(turn);
  prompt.resize(prompt.size() - turn.completion.size());
  auto ids = turn.completion;
  ids.insert(ids.end(), turn.discarded.begin(), turn.discarded.end());
  auto logprobs = turn.logprobs;
  logprobs.insert(logprobs.end(), turn.discarded_logprobs.begin(), turn.discarded_logprobs.end());
  const auto& served = engine.served();
  return std::any_of(served.begin(), served.end(), [&](const sim::Served& entry) {
    return entry.whole && entry.prompt == prompt && entry.sent == ids.size() &&
           begins_with(entry.ids, ids) && begins_with(entry.logprobs, logprobs);
  });
}

}  // namespace

std::string answered(std::string_view text, std::string_view reasoning, std::string_view calls) {
  json::Writer w;
  w.begin_object().field("role", "assistant");
  if (text.empty()) {
    w.key("content").null();
  } else {
    w.field("content", text);
  }
  if (!reasoning.empty()) w.field("reasoning_content", reasoning);
  if (!calls.empty()) w.key("tool_calls").raw(calls);
  w.end_object();
  return w.take();
}

std::string one_call(std::string_view id, std::string_view arguments, std::string_view more) {
  json::Writer w;
  w.begin_object().field("name", "look").field("arguments", arguments).end_object();
  return "[{\"id\":\"" + std::string(id) + "\",\"type\":\"function\",\"function\":" + w.take() +
         std::string(more) + "}]";
}

std::string open_step(std::string_view text, std::string_view finish) {
  std::string ids;
  for (const auto id : chat::testing::encoded(text))
    ids += (ids.empty() ? "" : ",") + std::to_string(id);
  return "{\"output_ids\":[" + ids + "],\"finish\":\"" + std::string(finish) + "\"}";
}

std::string place(const TurnPtr& turn, const std::vector<TurnPtr>& all) {
  std::string at = "root";
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (turn->parent && all[i]->id == turn->parent->id) at = number(i + 1);
  }
  return at + ":" + turn->attach.reason + (turn->attach.ambiguous ? "~" : "");
}

Task<bool> Play::open(std::string session_mode) {
  mode = std::move(session_mode);
  const auto made = co_await caller.post("/sessions", "{\"mode\":\"" + mode + "\"}");
  path = "/sessions/" + made.text("session_id");
  co_return made.status == 200;
}

std::vector<std::string> Play::steps(std::size_t count) {
  std::vector<std::string> all{
      R"({"text":"<tool_call>\n{\"name\": \"look\", \"arguments\": {\"a\": 1, \"b\": \"x\"}}\n</tool_call>"})",
      R"({"text":"<think>\nhm\n</think>\n\na2"})", R"({"text":"a3"})"};
  all.resize(count);
  return all;
}

Task<void> Play::record(std::size_t count) {
  history = {message("system", "s"), message("user", "u1")};
  for (std::size_t turn = 0; turn < count; ++turn) {
    if (turn == 1)
      history.push_back("{\"role\":\"tool\",\"tool_call_id\":\"" + call_id +
                        "\",\"content\":\"42\"}");
    if (turn == 2) history.push_back(message("user", "u3"));
    const auto answer = co_await caller.post(chat(), body(history));
    if (turn == 0) call_id = answer.text("choices", 0, "message", "tool_calls", 0, "id");
    history.push_back(answer.text("choices", 0, "message"));
  }
}

Messages Play::next() const {
  Messages messages = history;
  messages.push_back(message("user", "more"));
  return messages;
}

Task<std::string> Play::ask(Messages messages, std::string more) {
  co_return co_await send(body(messages, more));
}

Task<std::string> Play::send(std::string text) {
  Beside asked;
  co_await look(asked);
  last = co_await caller.post(chat(), std::move(text));
  co_return co_await outcome(last, asked);
}

Task<std::string> Play::go_on(Messages messages, std::string question) {
  messages.push_back(last.text("choices", 0, "message"));
  messages.push_back(message("user", question));
  co_return co_await ask(std::move(messages));
}

Task<void> Play::look(Beside& into) {
  into.before = co_await turns();
  into.dump = gateway.store.dump();
  into.requests = gateway.engine->stats().requests;
}

Task<void> Play::begin(Beside& beside, std::string text) {
  co_await look(beside);
  base::spawn([](Play& play, Beside& of, std::string sent) -> Task<void> {
    HttpCaller other(play.gateway.world.runtime, play.gateway.port);
    other.hang_up = &of.hang_up;
    auto answer = co_await other.post(play.chat(), std::move(sent));
    co_await other.stop();
    of.answer = std::move(answer);
  }(*this, beside, std::move(text)));
  co_await pass(std::chrono::milliseconds(50));
}

Task<std::string> Play::end(Beside& beside) {
  // NOLINTNEXTLINE(bugprone-infinite-loop): the other task sets it
  while (!beside.answer) co_await pass(std::chrono::milliseconds(50));
  co_return co_await outcome(*beside.answer, beside);
}

Task<void> Play::pass(base::Duration time) {
  co_await base::sleep_for(gateway.world.executor, time);
}

Task<std::vector<TurnPtr>> Play::turns() {
  const std::string id = path.substr(std::string_view("/sessions/").size());
  auto all = co_await gateway.store.turns(id);
  co_return all ? std::move(*all) : std::vector<TurnPtr>();
}

Task<std::string> Play::outcome(const Answer& answer, const Beside& asked) {
  const auto all = co_await turns();
  const auto error = error_text(answer);
  std::string out = number(static_cast<std::size_t>(answer.status));
  if (answer.status == 200 && error.empty()) {
    // Those of this request, whatever else was committed meanwhile.
    const auto id = answer.events().empty() ? answer.text("id")
                                            : Answer::text_at(answer.events().front(), {"id"});
    for (const auto& turn : all) {
      if (turn->completion_id == id) out += " " + place(turn, all);
    }
    co_return out;
  }
  out += refusal(error);
  const bool reached = gateway.engine->stats().requests > asked.requests;
  const bool gone = all.empty() && !asked.before.empty();  // deleted
  if (!gone && asked.before.size() == all.size() && gateway.store.dump() != asked.dump)
    out += " CHANGED";
  co_return (reached ? "asked " : "") + out;
}

Task<std::string> Play::unsound() {
  const auto all = co_await turns();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& turn = *all[i];
    const std::string which = "turn " + number(i + 1);
    if (turn.completion.size() != turn.logprobs.size()) co_return which + ": ids and logprobs";
    if (!was_served(turn, *gateway.engine)) co_return which + " was not sampled like this";
    if (!turn.parent) continue;
    auto parent = row(*turn.parent);
    parent.resize(parent.size() - std::min<std::size_t>(turn.parent_trim, parent.size()));
    if (!begins_with(row(turn), parent)) co_return which + " does not extend its parent's row";
  }
  co_return std::string();
}

}  // namespace verbatim::api::testing
