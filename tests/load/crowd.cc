#include "load/crowd.h"

#include <algorithm>
#include <utility>

#include "base/gather.h"
#include "base/random.h"

namespace verbatim::load {

using base::Status;
using base::Task;

namespace {
unsigned length_of(const Plan& plan, std::uint64_t number) {
  if (!plan.uneven) return plan.turns;
  base::SeededRandom random(number);
  return 1 + static_cast<unsigned>(random.below(2 * std::uint64_t{plan.turns} - 1));
}
}  // namespace

Crowd::Crowd(Gateway& gateway, const Shape& shape, const Plan& plan, Tell tell)
    : gateway_(gateway), shape_(shape), plan_(plan), tell_(std::move(tell)) {}

Task<Status> Crowd::run() {
  if (!plan_.in_step) {
    co_await all(&Crowd::work);
    co_return status_;
  }
  for (; begun_ < plan_.sessions; ++begun_)
    waiting_.push_back(std::make_unique<Agent>(shape_, begun_, plan_.turns));
  for (unsigned turn = 1; turn <= plan_.turns && status_.ok(); ++turn) {
    co_await all(&Crowd::work_in_step);
    std::swap(waiting_, moved_);
    progress_.turn = turn;
    tell_(progress_);
  }
  progress_.turn.reset();
  co_return status_;
}

Task<void> Crowd::all(Task<void> (Crowd::*job)()) {
  std::vector<Task<void>> workers;
  for (unsigned i = 0; i < plan_.connections; ++i) workers.push_back((this->*job)());
  co_await base::gather(std::move(workers));
}

// Null: nothing is left to do.
std::unique_ptr<Agent> Crowd::take() {
  const std::uint64_t open = plan_.open == 0 ? plan_.sessions : plan_.open;
  if (begun_ < plan_.sessions && begun_ - progress_.ended < open) {
    const auto number = begun_++;
    return std::make_unique<Agent>(shape_, number, length_of(plan_, number));
  }
  if (waiting_.empty()) return nullptr;
  auto agent = std::move(waiting_.front());
  waiting_.pop_front();
  return agent;
}

Task<void> Crowd::work() {
  while (status_.ok()) {
    auto agent = take();
    if (agent == nullptr) co_return;
    auto status = co_await step(std::move(agent));
    if (!status.ok() && status_.ok()) status_ = std::move(status);
  }
}

Task<void> Crowd::work_in_step() {
  while (status_.ok() && !waiting_.empty()) {
    auto agent = std::move(waiting_.front());
    waiting_.pop_front();
    auto status = co_await agent->turn(gateway_);
    if (status.ok()) answered();
    if (status.ok() && agent->ended()) {
      status = co_await end(std::move(agent));
    } else {
      moved_.push_back(std::move(agent));
    }
    if (!status.ok() && status_.ok()) status_ = std::move(status);
  }
}

Task<Status> Crowd::step(std::unique_ptr<Agent> agent) {
  auto status = co_await agent->turn(gateway_);
  if (!status.ok()) co_return status;
  answered();
  if (!agent->ended()) {
    waiting_.push_back(std::move(agent));
    co_return Status();
  }
  co_return co_await end(std::move(agent));
}

Task<Status> Crowd::end(std::unique_ptr<Agent> agent) {
  auto status = co_await agent->leave(gateway_);
  if (!status.ok()) co_return status;
  ++progress_.ended;
  progress_.tokens += agent->tokens();
  progress_.text_bytes += agent->text_bytes();
  progress_.body_bytes += agent->body_bytes();
  if (plan_.revisit == 0) co_return Status();
  visited_.push_back(std::move(agent));
  if (visited_.size() <= plan_.revisit) co_return Status();
  const auto again = std::move(visited_.front());
  visited_.pop_front();
  status = co_await again->turn(gateway_);
  if (status.ok()) answered();
  if (status.ok()) status = co_await again->leave(gateway_);
  co_return status;
}

void Crowd::answered() {
  ++progress_.answered;
  if (plan_.every != 0 && progress_.answered % plan_.every == 0) tell_(progress_);
}

}  // namespace verbatim::load
