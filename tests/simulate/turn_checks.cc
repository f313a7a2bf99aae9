#include <algorithm>
#include <array>

#include "simulate/checks.h"
#include "simulate/generations.h"
#include "simulate/words.h"

namespace verbatim::simulate {

using message::Message;
using sim::Fault;
using sim::Served;
using store::Turn;
using store::TurnPtr;
using trajectory::TokenIds;

namespace {

// Kinds that say with which weights they sampled.
bool tells_weights(const engine::testing::Driven& driven) {
  const auto name = driven.name();
  return name == "sglang/generate" || name == "sglang/chat" || name == "vllm/generate" ||
         name == "vllm/derender";
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

template <class T>
bool begins_with(const std::vector<T>& all, const std::vector<T>& part) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

// Answers that an agent's request can't tell apart.
bool same_answer(const Message& a, const Message& b) {
  if (trimmed(a.text) != trimmed(b.text) || a.tool_calls.size() != b.tool_calls.size())
    return false;
  for (std::size_t i = 0; i < a.tool_calls.size(); ++i) {
    if (a.tool_calls[i].name != b.tool_calls[i].name) return false;
    if (canonical(a.tool_calls[i].arguments) != canonical(b.tool_calls[i].arguments)) return false;
  }
  return true;
}

// Turns whose histories read alike.
bool same_history(const Turn* a, const Turn* b) {
  while (a != nullptr && b != nullptr && a != b) {
    if (a->message_count != b->message_count || !same_answer(a->answer, b->answer)) return false;
    a = a->parent.get();
    b = b->parent.get();
  }
  return true;
}

std::string name_of(const Turn& turn) {
  return turn_name(turn.request_id, turn.choice);
}

std::string place_of(const Turn& turn) {
  return turn.parent ? "below " + name_of(*turn.parent) : "a root: " + turn.attach.reason;
}

std::string shown(const Message& message) {
  std::string out =
      "text \"" + message.text + "\" reasoning \"" + message.reasoning.value_or("") + "\"";
  for (const auto& call : message.tool_calls)
    out += " call " + call.id + " " + call.name + " " + call.arguments;
  return out;
}

}  // namespace

TokenIds prompt_ids(const Turn& turn) {
  std::vector<const Turn*> path;
  for (const Turn* each = &turn; each != nullptr; each = each->parent.get()) path.push_back(each);
  TokenIds ids;
  for (std::size_t i = path.size(); i-- > 0;) {
    const Turn& each = *path[i];
    ids.resize(ids.size() - std::min<std::size_t>(each.parent_trim, ids.size()));
    ids.insert(ids.end(), each.prompt.begin(), each.prompt.end());
    if (i > 0) ids.insert(ids.end(), each.completion.begin(), each.completion.end());
  }
  return ids;
}

void Checks::index_served() {
  const auto& processes = setup_.engines.processes();
  indexed_.resize(processes.size());
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const auto& served = processes[p].engine->served();
    for (; indexed_[p] < served.size(); ++indexed_[p])
      index(served[indexed_[p]], processes[p].replica);
  }
}

// What one replica may have sampled is never given to another.
void Checks::index(const Served& entry, std::size_t replica) {
  if (!entry.seed) return;
  by_seed_[*entry.seed].push_back(&entry);
  // A status in place of an answer: nothing was sampled.
  static constexpr std::array kRefusals{Fault::kHttp404, Fault::kHttp429, Fault::kHttp503,
                                        Fault::kHttp529};
  if (entry.fault && std::find(kRefusals.begin(), kRefusals.end(), *entry.fault) != kRefusals.end())
    return;
  const auto first = sampler_.emplace(*entry.seed, replica).first->second;
  // A request that is asked once more may be sampled once more.
  if (setup_.ledger.asked_again.contains(*entry.seed)) return;
  check(first == replica, "once", "seed " + std::to_string(*entry.seed) + " at one replica",
        "at replicas " + std::to_string(first) + " and " + std::to_string(replica));
}

std::vector<const Served*> Checks::generations(const Asked& asked) {
  index_served();
  std::vector<const Served*> all;
  for (unsigned choice = 0; choice < asked.choices; ++choice) {
    const auto found = by_seed_.find(asked.seed + choice);
    if (found != by_seed_.end()) all.insert(all.end(), found->second.begin(), found->second.end());
  }
  return all;
}

bool Checks::engine_said(const Asked& asked, int status) {
  for (const Served* entry : generations(asked)) {
    if (entry->fault_fired && proof_of(setup_.driven, *entry->fault)->status == status) return true;
  }
  return false;
}

// At its last id: without that one the string is not there.
bool Checks::cut_at_stop(const Turn& turn) const {
  if (matches_stop_strings_ || turn.completion.empty()) return false;
  const auto& tokenizer = *setup_.model.tokenizer;
  const auto text = tokenizer.decode(turn.completion);
  const auto shorter =
      tokenizer.decode(std::span(turn.completion).first(turn.completion.size() - 1));
  for (const auto& stop : turn.sampling.stop) {
    if (count_of(text, stop) > count_of(shorter, stop)) return true;
  }
  return false;
}

// What goes wrong behind a cut is not read any more.
bool Checks::good(const Served& served, bool cut) const {
  return cut || !served.fault_fired || harmless(*served.fault);
}

// What the engine served under a seed, for messages.
std::string Checks::served_with(std::int64_t seed) {
  std::string out =
      std::to_string(by_seed_[seed].size()) + " generations of seed " + std::to_string(seed);
  for (const Served* entry : by_seed_[seed]) {
    out += "; prompt " + std::to_string(entry->prompt.size()) + " ids, sent " +
           std::to_string(entry->sent) + " of " + std::to_string(entry->ids.size()) +
           (entry->whole ? ", whole" : "") + (entry->stopped ? ", stopped" : "");
    if (entry->fault_fired) out += ", fault " + std::string(sim::name(*entry->fault));
  }
  return out;
}

void Checks::check_committed() {
  auto& unchecked = setup_.ledger.unchecked;
  while (!unchecked.empty()) {
    const TurnPtr turn = unchecked.front();
    unchecked.pop_front();
    check_turn(turn);
    check_repeats(*turn);
    by_turn_[turn->id] = turn;
  }
}

void Checks::check_turn(const TurnPtr& turn) {
  if (setup_.driven.by_messages()) {
    check_said(*turn);
    check_place(*turn);
    return;
  }
  const TokenIds prompt = prompt_ids(*turn);
  check_exact(*turn, prompt);
  check_prefix(*turn, prompt);
  check_spans(*turn);
  check_place(*turn);
}

// I4 and I6: what is recorded is what the engine received and sampled for this very request.
void Checks::check_exact(const Turn& turn, const TokenIds& prompt) {
  const std::string which = "the turn of " + turn.request_id;
  const auto& asked = setup_.ledger.requests[turn.request_id].asked;
  check(turn.sampling.seed == asked.seed, "I4", which + " with its seed", "another seed");
  check(turn.completion.size() == turn.logprobs.size() &&
            turn.discarded.size() == turn.discarded_logprobs.size(),
        "I6", "a logprob for each id of " + which, std::to_string(turn.logprobs.size()));
  index_served();
  const Sampled sampled{prompt, joined(turn.completion, turn.discarded),
                        joined(turn.logprobs, turn.discarded_logprobs), cut_at_stop(turn),
                        setup_.driven.mode->floats};
  const bool cut = sampled.cut;
  // Each choice is sampled with a seed of its own.
  const Served* served =
      generation_of(sampled, by_seed_[turn.sampling.seed.value_or(0) + turn.choice],
                    [&](const Served& each) { return good(each, cut); });
  if (served == nullptr) {
    setup_.findings.fail("I4",
                         "the prompt (" + std::to_string(prompt.size()) + " ids) and the " +
                             std::to_string(turn.completion.size()) + " + " +
                             std::to_string(turn.discarded.size()) + " sampled ids of " + which +
                             " as at the engine",
                         served_with(asked.seed + turn.choice));
  }
  if (cut) ++setup_.ledger.counts["turns cut at a stop string"];
  check(same_logprobs(sampled, *served), "I4", "logprobs of " + which + " as sampled", "others");
  check(good(*served, cut), "proof",
        "no turn out of an answer with the fault " +
            std::string(served->fault ? sim::name(*served->fault) : ""),
        which);
  check(cut || turn.discarded.empty() || served->fault == Fault::kIdsPastStop, "I4",
        "all sampled ids kept in " + which, std::to_string(turn.discarded.size()) + " discarded");
  const auto& weights = turn.weight_versions;
  check(tells_weights(setup_.driven) ? weights.size() == 1 && weights[0].version == served->weights
                                     : weights.empty(),
        "I4", which + " with the weights " + served->weights + " where they are told", "others");
  check(turn.row_size == prompt.size() + turn.completion.size(), "I4",
        "row size " + std::to_string(prompt.size() + turn.completion.size()),
        std::to_string(turn.row_size));
}

// I1: the engine received the parent's prompt and completion again, id by id.
void Checks::check_prefix(const Turn& turn, const TokenIds& prompt) {
  if (!turn.parent) return;
  const auto trim = turn.parent_trim;
  const auto max_trim = setup_.model.made->renderer->family().max_trim();
  check(trim <= max_trim, "I1", "at most " + std::to_string(max_trim) + " ids dropped",
        std::to_string(trim));
  TokenIds row = joined(prompt_ids(*turn.parent), turn.parent->completion);
  row.resize(row.size() - std::min<std::size_t>(trim, row.size()));
  check(begins_with(prompt, row), "I1",
        "the prompt of " + turn.request_id + " begins with the row of " + turn.parent->request_id,
        "it does not");
  const auto parent = by_turn_.find(turn.parent->id);
  check(parent != by_turn_.end(), "I1", "a parent that was committed before", "none");
}

// I7, and that nothing an agent typed became a control token.
void Checks::check_spans(const Turn& turn) {
  std::size_t at = 0;
  for (const auto& span : turn.spans) {
    check(span.count > 0 && at + span.count <= turn.prompt.size(), "I7",
          "spans that tile the prompt of " + turn.request_id, "one that does not fit");
    const bool typed = span.source == message::SpanSource::kMessage &&
                       span.field == message::Field::kText &&
                       span.message + 1 + turn.messages.size() >= turn.message_count;
    for (std::size_t i = at; typed && i < at + span.count; ++i) {
      check(turn.prompt[i] < setup_.model.first_control, "injection",
            "no control token out of a message of " + turn.request_id,
            "id " + std::to_string(turn.prompt[i]));
    }
    at += span.count;
  }
  check(at == turn.prompt.size(), "I7", "spans that tile the prompt of " + turn.request_id,
        std::to_string(at) + " of " + std::to_string(turn.prompt.size()) + " ids");
}

// Somewhere above, an agent that left reasoning out was taken for one that got another answer with
// the same text. What it sends later may fit less than it thinks.
bool Checks::diverged(const Turn& turn) const {
  for (const Turn* each = &turn; each != nullptr; each = each->parent.get()) {
    if (!each->parent && each->attach.reason == "suffix") return false;
    const auto& believed = setup_.ledger.requests[each->request_id].asked.parent;
    if (believed != (each->parent ? name_of(*each->parent) : "")) return true;
  }
  return false;
}

namespace {
std::uint64_t id_of(const TurnPtr& turn) {
  return turn ? turn->id : 0;
}
}  // namespace

bool Checks::check_line(const Turn& turn) {
  const auto& session = setup_.ledger.sessions[turn.session_id];
  if (session.mode == "tree") return false;
  const std::string which = "the turn of " + turn.request_id + " (" + session.mode + ")";
  if (turn.seq == 1) {
    check(!turn.parent, "mode", which + " a root", place_of(turn));
    return true;
  }
  const auto& tip = session.turns[turn.seq - 2];
  // By their ids: a turn that was read from disk again is another object.
  const bool behind = id_of(turn.parent) == tip->id;
  const bool in_place = session.mode == "linear" && id_of(turn.parent) == id_of(tip->parent);
  check(behind || in_place, "mode", which + " behind the tip, or in place of it", place_of(turn));
  ++setup_.ledger.counts[behind ? "attached: behind the tip" : "attached: in place of the tip"];
  return true;
}

// The turn hangs below the one its agent continued.
void Checks::check_place(const Turn& turn) {
  const auto& asked = setup_.ledger.requests[turn.request_id].asked;
  const std::string which = "the turn of " + turn.request_id;
  check(turn.message_count == asked.messages + 1, "place",
        std::to_string(asked.messages + 1) + " messages in " + which,
        std::to_string(turn.message_count));
  auto& counts = setup_.ledger.counts;
  ++counts["attached: " + std::string(turn.parent ? "child" : "root, " + turn.attach.reason)];
  if (turn.attach.ambiguous) ++counts["attached: ambiguous"];
  if (check_line(turn)) return;
  if (asked.parent.empty()) {
    check(!turn.parent, "place", which + " a root", place_of(turn));
    return;
  }
  const auto expected = setup_.ledger.turn_named(asked.parent);
  if (expected != nullptr && gone(expected->session_id)) return;
  if (expected != nullptr && diverged(*expected)) {
    ++counts["attached: behind one of several answers alike"];
    return;
  }
  if (!turn.parent) {
    check(asked.may_start_over && turn.attach.reason == "suffix", "place",
          which + " below " + asked.parent, place_of(turn));
    return;
  }
  check(expected != nullptr && same_history(turn.parent.get(), expected.get()), "place",
        which + " below " + asked.parent + (expected ? ": " + shown(expected->answer) : ""),
        place_of(turn) + ": " + shown(turn.parent->answer));
}

// I11: what the events fold to is what is recorded.
void Checks::check_answer(const Turn& turn, const protocol::ChatResult& result) {
  const Message seen = result.turn.to_message();
  const Message& kept = turn.answer;
  check(seen.text == kept.text && seen.reasoning == kept.reasoning &&
            seen.tool_calls == kept.tool_calls,
        "I11", "the answer of " + turn.request_id + ": " + shown(kept), shown(seen));
  check(result.finish_reason == message::name(turn.finish), "I11",
        "finish reason " + std::string(message::name(turn.finish)), result.finish_reason);
  check(result.id == turn.completion_id, "I11", "id " + turn.completion_id, result.id);
}

// The prompt was read once, whatever the number of answers.
void Checks::check_usage(const std::vector<TurnPtr>& turns, const message::Usage& usage) {
  const Turn& first = *turns.front();
  std::uint64_t prompt = first.row_size - first.completion.size();
  std::uint64_t completion = 0;
  for (const auto& turn : turns)
    completion += turn->usage ? turn->usage->completion_tokens : turn->completion.size();
  if (first.usage) prompt = first.usage->prompt_tokens;
  check(usage.prompt_tokens == prompt && usage.completion_tokens == completion, "I11",
        "usage of " + first.request_id + " as recorded", "other counts");
}

}  // namespace verbatim::simulate
