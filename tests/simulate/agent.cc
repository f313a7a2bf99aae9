#include "simulate/agent.h"

#include "base/timer.h"
#include "json/value.h"
#include "simulate/plumbing.h"
#include "simulate/wrong_requests.h"

namespace verbatim::simulate {

using base::Task;

namespace {
constexpr std::size_t kLongestHistory = 16;
constexpr int kTries = 6;
}  // namespace

Agent::Agent(Stage& stage, unsigned number, std::uint64_t seed)
    : stage_(stage),
      number_(number),
      random_(seed),
      client_(stage.runtime, stage.port, stage.findings) {}

std::string Agent::new_request_id() {
  return "a" + std::to_string(number_) + "-" + std::to_string(++requests_);
}

Task<void> Agent::rest(std::uint64_t max_ms) {
  const auto ms = static_cast<std::int64_t>(random_.below(max_ms));
  co_await base::sleep_for(stage_.runtime.executor, std::chrono::milliseconds(ms));
}

Task<void> Agent::run() {
  co_await rest(50);
  while (stage_.more()) {
    co_await hold_conversation();
    if (random_.chance(500)) co_await client_.reconnect();
  }
  co_await client_.stop();
}

Task<bool> Agent::create_session(std::string& id) {
  const std::uint64_t draw = random_.below(1000);
  const std::string mode = draw < 200 ? "linear" : draw < 350 ? "strict" : "tree";
  const std::string body = mode == "tree" ? "" : R"({"mode":")" + mode + "\"}";
  for (int tries = 0; tries < kTries && stage_.more(); ++tries) {
    const auto reply = co_await client_.send("POST", "/sessions", body, "");
    stage_.checks.plain("create", reply, {200});
    if (reply.status != 200) continue;
    const auto doc = json::Document::parse(reply.body);
    const auto found =
        doc && doc->root().is_object() ? doc->root().get("session_id") : std::nullopt;
    stage_.findings.check(found && found->is_string(), "session shape", "session_id", reply.body);
    id = found->string();
    stage_.checks.created(id, mode);
    co_return true;
  }
  co_return false;
}

Task<void> Agent::delete_session(std::string id) {
  const auto reply = co_await client_.send("DELETE", "/sessions/" + id, "", "");
  stage_.checks.plain("delete", reply, {204, 404});
  stage_.checks.deleted(id, reply.status);
}

Task<void> Agent::look_at(std::string session) {
  const auto before = stage_.checks.look();
  const auto reply = co_await client_.send("GET", "/sessions/" + session, "", "");
  stage_.checks.plain("get", reply, {200, 404});
  stage_.checks.unchanged("I10", "GET /sessions/{id}", before);
  stage_.checks.seen_session(session, reply, before);
}

Task<void> Agent::hold_conversation() {
  Conversation conversation;
  if (random_.chance(700) && !co_await create_session(conversation.session)) co_return;
  // Under the name of one that was forgotten another session would be made.
  if (conversation.session.empty() && !stage_.forgets && random_.chance(300))
    conversation.door = "door-" + std::to_string(number_) + "." + std::to_string(conversations_);
  open(conversation, random_,
       "agent " + std::to_string(number_) + "." + std::to_string(++conversations_));
  for (auto left = 1 + random_.below(8); left > 0 && stage_.more(); --left) {
    if (random_.chance(80)) co_await do_wrong(conversation);
    if (random_.chance(120) && !conversation.session.empty())
      co_await look_at(conversation.session);
    if (random_.chance(100)) edit(conversation, random_);
    if (co_await step(conversation) == Go::kStop) break;
    if (conversation.items.size() > kLongestHistory) break;
    go_on(conversation, random_);
    if (random_.chance(150)) co_await client_.reconnect();
  }
  if (conversation.session.empty()) co_return;
  if (random_.chance(200)) co_await look_at(conversation.session);
  if (random_.chance(500)) co_await delete_session(conversation.session);
}

Leave Agent::some_leave() {
  Leave leave;
  if (random_.chance(40)) leave.after_events = random_.below(12);
  if (random_.chance(40))
    leave.after = std::chrono::milliseconds(random_.below(random_.chance(300) ? 3000 : 80));
  if (random_.chance(30)) leave.after = std::chrono::seconds(30 + random_.below(60));
  return leave;
}

Task<void> Agent::turn_into(const Conversation& conversation, Result& into) {
  if (stage_.turns_left > 0) --stage_.turns_left;
  into.asked.request_id = new_request_id();
  into.asked.seed = stage_.next_seed++;
  const RequestShape drawn = some_shape(random_);
  const RequestShape shape = stage_.by_messages ? by_messages(drawn) : drawn;
  Post post;
  post.body = spell(conversation, shape, random_, into.asked);
  post.target = conversation.session.empty()
                    ? "/v1/chat/completions"
                    : "/sessions/" + conversation.session + "/v1/chat/completions";
  post.request_id = into.asked.request_id;
  post.door = conversation.door;
  post.stream = shape.stream;
  post.leave = some_leave();
  post.on_terminal = [this, &into](const protocol::ChatResult& result) {
    stage_.checks.terminal(into.asked, result);
  };
  if (stage_.findings.tracing())
    stage_.findings.trace("  " + into.asked.request_id + " asks " + post.target + " " + post.body);
  stage_.checks.begins(into.asked);
  const auto before = stage_.checks.look();
  into.outcome = co_await client_.chat(post);
  stage_.checks.finished(into.asked, into.outcome, before);
}

Task<Agent::Result> Agent::turn(const Conversation& conversation) {
  Result result;
  co_await turn_into(conversation, result);
  co_return result;
}

Task<Agent::Go> Agent::step(Conversation& conversation) {
  if (random_.chance(60)) co_return co_await step_doubled(conversation);
  for (int tries = 0; tries < kTries && (tries == 0 || stage_.more()); ++tries) {
    auto result = co_await turn(conversation);
    const bool again = random_.chance(60) && stage_.more();
    if (result.outcome.kind == Outcome::Kind::kAnswered) {
      // Sampled once more: the agent takes the better one.
      if (again) {
        auto other = co_await turn(conversation);
        if (other.outcome.kind == Outcome::Kind::kAnswered && random_.chance(500))
          result = std::move(other);
      }
      adopt(conversation, result.asked, result.outcome.result.turn.to_message());
      co_return Go::kOn;
    }
    // The session is gone, or takes no other history than its own.
    const bool elsewhere = result.outcome.code == "session_diverged";
    if (result.outcome.status == 404 || elsewhere) co_return Go::kStop;
    co_await rest(40);
  }
  co_return Go::kStop;
}

Task<Agent::Go> Agent::step_doubled(Conversation& conversation) {
  Result first, second;
  Together both(stage_.runtime.executor);
  both.run(turn_into(conversation, first));
  if (random_.chance(150) && !conversation.session.empty()) {
    co_await rest(60);
    both.run(delete_session(conversation.session));
  } else {
    both.run(turn_into(conversation, second));
  }
  co_await both.all();
  const bool first_good = first.outcome.kind == Outcome::Kind::kAnswered;
  const bool second_good = second.outcome.kind == Outcome::Kind::kAnswered;
  if (!first_good && !second_good) co_return Go::kStop;
  const bool takes_second = second_good && (!first_good || random_.chance(500));
  auto& taken = takes_second ? second : first;
  adopt(conversation, taken.asked, taken.outcome.result.turn.to_message());
  co_return Go::kOn;
}

Task<void> Agent::do_wrong(const Conversation& conversation) {
  const auto id = new_request_id();
  const WrongRequest wrong = some_wrong_request(conversation, random_);
  // By messages the engine decides.
  if (stage_.by_messages && wrong.by_ids_only) co_return;
  const auto before = stage_.checks.look();
  const auto reply = co_await client_.send(wrong.method, wrong.target, wrong.body, id);
  stage_.checks.refused(wrong.name, reply, wrong.status, id, before);
}

}  // namespace verbatim::simulate
