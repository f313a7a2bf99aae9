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
      client_(stage.runtime, stage.port, stage.findings, stage.broken) {}

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

Task<bool> Agent::create_session(Conversation& conversation) {
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
    conversation.session = found->string();
    conversation.one_line = mode != "tree";
    stage_.checks.created(conversation.session, mode);
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
  ++stage_.ledger.counts["op: look at a session"];
  const auto before = stage_.checks.look();
  const auto reply = co_await client_.send("GET", "/sessions/" + session, "", "");
  stage_.checks.plain("get", reply, {200, 404});
  stage_.checks.unchanged("I10", "GET /sessions/{id}", before);
  stage_.checks.seen_session(session, reply, before);
}

Task<void> Agent::hold_conversation() {
  Conversation conversation;
  if (random_.chance(700) && !co_await create_session(conversation)) co_return;
  // Under the name of one that was forgotten another session would be made.
  if (conversation.session.empty() && !stage_.forgets && random_.chance(300))
    conversation.door = "door-" + std::to_string(number_) + "." + std::to_string(conversations_);
  open(conversation, random_,
       "agent " + std::to_string(number_) + "." + std::to_string(++conversations_));
  for (auto left = 1 + random_.below(8); left > 0 && stage_.more(); --left) {
    if (random_.chance(80)) co_await do_wrong(conversation);
    if (random_.chance(120) && !conversation.session.empty())
      co_await look_at(conversation.session);
    if (random_.chance(100)) {
      edit(conversation, random_);
      ++stage_.ledger.counts["op: history edited"];
    }
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

Agent::Attempt Agent::compose(const Conversation& conversation) {
  Attempt attempt;
  Asked& asked = attempt.asked;
  Post& post = attempt.post;
  asked.request_id = new_request_id();
  asked.seed = stage_.next_seed;
  const RequestShape drawn = some_shape(random_);
  RequestShape shape = stage_.by_messages ? by_messages(drawn) : drawn;
  if (conversation.one_line) shape.choices = 1;
  stage_.next_seed += shape.choices;
  post.body = spell(conversation, shape, random_, asked);
  post.target = conversation.session.empty()
                    ? "/v1/chat/completions"
                    : "/sessions/" + conversation.session + "/v1/chat/completions";
  post.door = conversation.door;
  post.stream = shape.stream;
  post.choices = shape.choices;
  const auto draw = random_.below(1000);
  asked.retry = draw < 200 ? Retry::kKey : draw < 400 ? Retry::kCount : Retry::kNone;
  if (asked.retry != Retry::kNone) asked.group = asked.request_id;
  if (asked.retry == Retry::kKey) post.key = "key-" + asked.request_id;
  if (asked.retry == Retry::kCount) post.count = "0";
  return attempt;
}

Agent::Attempt Agent::again(const Attempt& earlier, bool repeats) {
  Attempt attempt = earlier;
  attempt.asked.request_id = new_request_id();
  attempt.asked.repeats = repeats;
  if (repeats) ++attempt.count;
  if (attempt.asked.retry == Retry::kCount)
    attempt.post.count = repeats ? std::to_string(attempt.count) : "0";
  for (unsigned choice = 0; choice < attempt.asked.choices; ++choice)
    stage_.ledger.asked_again.insert(attempt.asked.seed + choice);
  return attempt;
}

Agent::Attempt Agent::after_failure(const Conversation& conversation, const Attempt& failed) {
  if (failed.asked.retry == Retry::kNone || random_.chance(200)) return compose(conversation);
  const bool afresh = failed.asked.retry == Retry::kCount && random_.chance(250);
  return again(failed, !afresh);
}

Task<void> Agent::send(Attempt attempt, Result& into) {
  if (stage_.turns_left > 0) --stage_.turns_left;
  into.attempt = std::move(attempt);
  auto& [asked, post, count] = into.attempt;
  post.request_id = asked.request_id;
  post.leave = some_leave();
  post.on_terminal = [this, &into](std::uint32_t choice, const protocol::ChatResult& result) {
    stage_.checks.terminal(into.attempt.asked, choice, result);
  };
  if (stage_.findings.tracing())
    stage_.findings.trace("  " + asked.request_id + " asks " + post.target + " " + post.body +
                          (post.key.empty() ? "" : " key " + post.key) +
                          (post.count.empty() ? "" : " count " + post.count));
  stage_.checks.begins(asked);
  const auto before = stage_.checks.look();
  into.outcome = co_await client_.chat(post);
  stage_.checks.finished(asked, into.outcome, before);
}

Task<Agent::Result> Agent::sent(Attempt attempt) {
  Result result;
  co_await send(std::move(attempt), result);
  co_return result;
}

// One of its answers becomes part of the history. Now and then a client asks for it again first.
Task<void> Agent::take(Conversation& conversation, Result& result) {
  if (result.attempt.asked.retry == Retry::kKey && random_.chance(150) && stage_.more()) {
    Attempt same = again(result.attempt, true);
    Result other = co_await sent(std::move(same));
    if (other.outcome.kind == Outcome::Kind::kAnswered) result = std::move(other);
  }
  const auto& asked = result.attempt.asked;
  const auto choice = static_cast<std::uint32_t>(random_.below(asked.choices));
  const auto& source = stage_.ledger.requests[asked.request_id].answer_of;
  adopt(conversation, asked, turn_name(source, choice),
        result.outcome.results[choice].turn.to_message());
}

Task<Agent::Go> Agent::step(Conversation& conversation) {
  if (random_.chance(60)) co_return co_await step_doubled(conversation);
  Attempt attempt = compose(conversation);
  for (int tries = 0; tries < kTries && (tries == 0 || stage_.more()); ++tries) {
    Attempt now = attempt;
    auto result = co_await sent(std::move(now));
    const bool once_more = random_.chance(60) && stage_.more();
    if (result.outcome.kind == Outcome::Kind::kAnswered) {
      // Sampled once more: the agent takes the better one.
      if (once_more) {
        Attempt another = compose(conversation);
        auto other = co_await sent(std::move(another));
        if (other.outcome.kind == Outcome::Kind::kAnswered && random_.chance(500))
          result = std::move(other);
      }
      co_await take(conversation, result);
      co_return Go::kOn;
    }
    // The session is gone, or takes no other history than its own.
    const bool elsewhere = result.outcome.code == "session_diverged";
    if (result.outcome.status == 404 || elsewhere) co_return Go::kStop;
    co_await rest(40);
    attempt = after_failure(conversation, result.attempt);
  }
  co_return Go::kStop;
}

Task<Agent::Go> Agent::step_doubled(Conversation& conversation) {
  Result first, second;
  ++stage_.ledger.counts["op: two requests at once"];
  Together both(stage_.runtime.executor);
  Attempt attempt = compose(conversation);
  const bool joins = attempt.asked.retry != Retry::kNone && random_.chance(500);
  Attempt other = joins ? again(attempt, true) : compose(conversation);
  both.run(send(std::move(attempt), first));
  if (random_.chance(150) && !conversation.session.empty()) {
    co_await rest(60);
    both.run(delete_session(conversation.session));
  } else {
    both.run(send(std::move(other), second));
  }
  co_await both.all();
  const bool first_good = first.outcome.kind == Outcome::Kind::kAnswered;
  const bool second_good = second.outcome.kind == Outcome::Kind::kAnswered;
  if (!first_good && !second_good) co_return Go::kStop;
  const bool takes_second = second_good && (!first_good || random_.chance(500));
  Result& taken = takes_second ? second : first;
  co_await take(conversation, taken);
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
