#include <algorithm>
#include <utility>

#include "sim/sim_impl.h"

namespace verbatim::sim {
namespace {

constexpr std::size_t kTail = 2000;  // characters of the prompt that a script looks at

std::string_view last_part(std::string_view text) {
  return text.size() <= kTail ? text : text.substr(text.size() - kTail);
}

}  // namespace

std::optional<TokenId> SimEngine::Impl::stop_id() const {
  if (options.stop_id) return options.stop_id;
  const auto* token = options.tokenizer->added("<|im_end|>");
  return token == nullptr ? std::nullopt : std::optional(token->id);
}

std::optional<TokenId> SimEngine::Impl::stop_id(const GenerateCall& call) const {
  if (const auto own = stop_id()) return own;
  if (!call.limits.stop_ids.empty()) return call.limits.stop_ids.front();
  return std::nullopt;
}

TokenIds SimEngine::Impl::sampled(std::string_view text, const GenerateCall& call,
                                  base::Random& random) const {
  TokenIds ids = sampler.sample(text, random);
  const auto stop = stop_id(call);
  if (stop && (ids.empty() || ids.back() != *stop)) ids.push_back(*stop);
  return ids;
}

void SimEngine::Impl::complete(const TokenIds& planned, const GenerateCall& call, Plan& plan) {
  Limits limits = call.limits;
  const auto stop = stop_id(call);
  if (stop && !call.ignores_stop_id) limits.stop_ids.push_back(*stop);
  plan.done = sample_within(*options.tokenizer, planned, limits);
}

void SimEngine::Impl::plan_reply(const Reply& reply, const GenerateCall& call, base::Random& random,
                                 Plan& plan) {
  const TokenIds planned = reply.ids    ? *reply.ids
                           : reply.text ? sampled(*reply.text, call, random)
                                        : sampled(options.fixed_text, call, random);
  if (reply.finish) {
    plan.done.ids = planned;
    plan.done.finish = *reply.finish;
  } else {
    complete(planned, call, plan);
  }
  plan.done.logprobs = reply.logprobs;
  plan.done.routed_experts = reply.routed_experts;
  plan.delay = reply.delay;
  if (reply.token_delay) plan.token_delay = *reply.token_delay;
  plan.events = reply.events;
  plan.http = reply.http;
  plan.weight_version = reply.weight_version;
  if (reply.fault) plan.fault = reply.fault;
}

Plan SimEngine::Impl::plan(const GenerateCall& call) {
  stats.prompt_tokens += call.prompt.size();
  base::SeededRandom random(
      mix(options.seed ^
          mix(call.seed ? static_cast<std::uint64_t>(*call.seed) : stats.requests + 0x5151)));
  Plan plan;
  plan.delay = options.delay;
  plan.token_delay = options.token_delay;
  plan.fault = options.faults.draw(random);
  const bool reads = options.script ? options.script->reads_text() : false;
  const bool replies = !options.author && options.behaviour != Behaviour::kFixedText;
  std::string text;
  if (reads || replies) text = options.tokenizer->decode(call.prompt);
  const Reply* scripted =
      options.script ? options.script->next(call.prompt, last_part(text)) : nullptr;
  if (scripted != nullptr) {
    plan_reply(*scripted, call, random, plan);
  } else if (options.author) {
    plan_reply(options.author(call, random), call, random, plan);
  } else {
    const bool thinks = options.tokenizer->added("<think>") != nullptr;
    const auto reply = reply_text(text, {options.behaviour, options.fixed_text, thinks});
    complete(sampled(reply, call, random), call, plan);
  }
  const auto can_be = [&](Fault fault) {
    return call.by_messages ? applies_by_messages(fault) : applies(fault, options.face);
  };
  if (plan.fault && !can_be(*plan.fault)) plan.fault.reset();
  if (plan.fault == Fault::kIdsPastStop && plan.done.finish.matched_id) {
    for (auto left = 1 + random.below(3); left > 0; --left)
      plan.done.ids.push_back(static_cast<TokenId>(random.below(options.tokenizer->vocab_size())));
    fired(Fault::kIdsPastStop);
  }
  plan.done.logprobs.resize(std::min(plan.done.logprobs.size(), plan.done.ids.size()));
  for (std::size_t i = plan.done.logprobs.size(); i < plan.done.ids.size(); ++i)
    plan.done.logprobs.push_back(logprob(options.seed, i, plan.done.ids[i]));
  plan.fault_at = plan.done.ids.empty() ? 0 : random.below(plan.done.ids.size());
  if (options.on_planned) options.on_planned(call, plan.done, plan.fault);
  return plan;
}

}  // namespace verbatim::sim
