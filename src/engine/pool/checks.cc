#include <algorithm>

#include "engine/pool/agreement.h"
#include "engine/pool/replica.h"
#include "engine/pool/together.h"

// What the replicas are asked: what they serve, and whether they are well.
namespace verbatim::engine::pool {

using base::error;
using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

namespace {

// Runs in the background of whoever waits for it, or went on without.
Task<void> store_ready(Engine& engine, MonoTime deadline, std::shared_ptr<std::vector<Status>> to,
                       std::size_t at) {
  auto status = co_await engine.ready(deadline);
  (*to)[at] = std::move(status);
}

base::Error unanswered() {
  return error(ErrorKind::kUnavailable, "it did not answer");
}

// What a replica has to show before it is asked what it serves.
enum class First { kNothing, kReady, kToken };

First first_of(Health::Needs needs, First else_asked) {
  return needs == Health::Needs::kToken ? First::kToken : else_asked;
}

// What it serves, where it has shown that.
Task<Result<Probe>> ask_one(Engine& engine, MonoTime deadline, First first) {
  Status shown;
  if (first == First::kReady) shown = co_await engine.ready(deadline);
  if (first == First::kToken) shown = co_await engine.samples(deadline);
  if (!shown.ok()) co_return std::move(shown).error();
  auto probe = co_await engine.probe(deadline);
  co_return std::move(probe);
}

Task<void> store_answer(Engine& engine, MonoTime deadline, First first,
                        std::shared_ptr<std::vector<Result<Probe>>> to, std::size_t at) {
  auto answer = co_await ask_one(engine, deadline, first);
  (*to)[at] = std::move(answer);
}

}  // namespace

Task<std::vector<Pool::Asked>> Pool::ask(std::vector<Replica*> whom, MonoTime deadline) {
  const auto answers =
      std::make_shared<std::vector<Result<Probe>>>(whom.size(), Result<Probe>(unanswered()));
  Together asking(runtime_.executor, background_);
  for (std::size_t i = 0; i < whom.size(); ++i) {
    const First first = first_of(whom[i]->health.needs(), First::kNothing);
    asking.run(store_answer(*whom[i]->engine, deadline, first, answers, i));
  }
  for (;;) {
    const bool more = co_await asking.next();
    if (!more) break;
  }
  std::vector<Asked> asked;
  for (std::size_t i = 0; i < whom.size(); ++i)
    asked.push_back({whom[i], std::move((*answers)[i])});
  co_return asked;
}

// Before anything is agreed on, two that differ are both not trusted. Later the pool knows better.
Status Pool::settle(std::vector<Asked> answers) {
  if (!agreed_) {
    if (auto status = check_agreement(answers); !status.ok()) return status;
  }
  for (auto& asked : answers) take(*asked.replica, std::move(asked.answer));
  if (!agreed_ || stopping_) return {};
  for (const auto& replica : replicas_) {
    if (!replica->next_check.armed() && !replica->checking) arm(*replica);
  }
  return {};
}

Status Pool::check_agreement(const std::vector<Asked>& answers) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!answers[i].answer.ok() || !answers[k].answer.ok()) continue;
      auto differs = difference(*answers[i].replica->engine, *answers[k].replica->engine);
      if (!differs) differs = difference(*answers[i].answer, *answers[k].answer);
      if (!differs) continue;
      const auto what = "replicas must serve the same: " + answers[i].replica->url +
                        " differs from " + answers[k].replica->url + ": " + *differs;
      for (const auto at : {i, k}) answers[at].replica->health.keep_out(what);
      return error(ErrorKind::kUnavailable, what);
    }
  }
  return {};
}

std::optional<std::string> Pool::contradiction(const Replica& replica, const Probe& said) const {
  if (!agreed_) return std::nullopt;
  if (auto differs = difference(*replica.engine, *agreed_by_)) return differs;
  return difference(said, *agreed_);
}

void Pool::take(Replica& replica, Result<Probe> answer) {
  const auto before = replica.health.state();
  if (!answer.ok() && replica.health.serving() && sign_of(answer.error()) == Sign::kBusy) {
    // A full queue has no place for a check either.
    replica.health.mark_busy(now() + busy_time(answer.error(), options_.health));
  } else if (!answer.ok()) {
    replica.health.check_failed(answer.error().message, now());
  } else if (const auto differs = contradiction(replica, *answer)) {
    replica.health.keep_out("it serves something else than the other replicas: " + *differs);
  } else {
    replica.weight_version = answer->weight_version;
    if (agreed_by_ == nullptr) agreed_by_ = replica.engine.get();
    agreed_ = agreed_ ? merged(std::move(*agreed_), *answer) : std::move(*answer);
    replica.health.admit();
  }
  note_change(replica, before);
}

Task<Result<Probe>> Pool::probe(MonoTime deadline) {
  const auto pass = co_await asking_.enter();
  std::vector<Replica*> all;
  for (const auto& replica : replicas_) all.push_back(replica.get());
  auto answers = co_await ask(std::move(all), deadline);
  const bool heard = std::any_of(answers.begin(), answers.end(),
                                 [](const Asked& asked) { return asked.answer.ok(); });
  if (auto status = settle(std::move(answers)); !status.ok()) co_return std::move(status).error();
  if (!heard) co_return nobody();
  co_return *agreed_;
}

// One round serves all requests that wait when it ends.
Task<void> Pool::ask_absent() {
  const MonoTime came = now();
  const auto pass = co_await asking_.enter();
  if (asked_at_ > came) co_return;
  std::vector<Replica*> absent;
  for (const auto& replica : replicas_) {
    if (!replica->health.serving()) absent.push_back(replica.get());
  }
  auto answers = co_await ask(std::move(absent), came + options_.ask_timeout);
  asked_at_ = now();
  // Where they do not agree, each is left out with the reason.
  (void)settle(std::move(answers));
}

Task<Status> Pool::ready(MonoTime deadline) {
  const auto serving = [this] {
    std::vector<Replica*> found;
    for (const auto& replica : replicas_) {
      if (replica->health.serving() && !replica->draining) found.push_back(replica.get());
    }
    return found;
  };
  auto whom = serving();
  if (whom.empty()) {
    co_await ask_absent();
    whom = serving();
  }
  if (whom.empty()) co_return nobody();
  const auto answers = std::make_shared<std::vector<Status>>(whom.size(), Status(unanswered()));
  Together asking(runtime_.executor, background_);
  for (std::size_t i = 0; i < whom.size(); ++i)
    asking.run(store_ready(*whom[i]->engine, deadline, answers, i));
  for (;;) {
    const bool more = co_await asking.next();
    for (const auto& answer : *answers) {
      if (answer.ok()) co_return Status();
    }
    if (!more) co_return answers->front();
  }
}

Task<void> Pool::check(Replica& replica) {
  replica.checking = true;
  const MonoTime deadline = now() + options_.check_timeout;
  const First first = first_of(replica.health.needs(), First::kReady);
  auto answer = co_await ask_one(*replica.engine, deadline, first);
  replica.checking = false;
  if (stopping_) co_return;
  take(replica, std::move(answer));
  arm(replica);
}

void Pool::arm(Replica& replica) {
  // What failed once is looked at again soon.
  const auto pace =
      replica.health.strikes() > 0 ? options_.health.first_cooldown : options_.check_pace;
  const auto jitter = base::Duration(static_cast<std::int64_t>(
      runtime_.random.below(static_cast<std::uint64_t>(pace.count()) / 4 + 1)));
  const MonoTime at = replica.health.state() == Health::State::kCooling ? replica.health.cooled_at()
                                                                        : now() + (pace - jitter);
  replica.next_check.arm(runtime_.executor.timers(), at,
                         [this, &replica] { background_.run(check(replica)); });
}

// The next check is due by the state a replica is in.
void Pool::note_change(Replica& replica, Health::State before) {
  replica.show();
  const auto state = replica.health.state();
  if (state == before) return;
  if (options_.tell && !replica.health.serving()) {
    options_.tell("engine " + replica.url + " is left out: " + replica.health.why());
  } else if (options_.tell && before != Health::State::kUnasked) {
    options_.tell("engine " + replica.url + " is back");
  }
  if (agreed_ && !stopping_ && !replica.checking) arm(replica);
}

Task<void> Pool::stop() {
  stopping_ = true;
  for (const auto& replica : replicas_) replica->next_check.cancel();
  co_await background_.idle();
  for (const auto& replica : replicas_) co_await replica->engine->stop();
}

}  // namespace verbatim::engine::pool
