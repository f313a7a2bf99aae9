#include "trajectory/attach.h"

#include <algorithm>
#include <tuple>

#include "trajectory/equality.h"
#include "trajectory/letters.h"

namespace verbatim::trajectory {
namespace {

using message::Message;
using message::Role;

// How well the history of a candidate fits beyond its digest.
struct Fit {
  bool differs = false;       // reasoning, or a call that the agent's spelling does not vouch for
  bool spelled = false;       // equal by the agent's spelling alone
  std::size_t equal_ids = 0;  // of calls: the client gave back what it was given
  bool raw = true;            // texts and arguments byte for byte
  std::size_t equal_reasonings = 0;
};

// Digests are equal: what differs here is spelling, the agent's own or everybody's.
void compare_spelling(Fit& fit, const Message& stored, const Message& sent,
                      const Spelling& spelling) {
  if (match_texts(stored, sent, &spelling) == Match::kSpelled) fit.spelled = true;
  if (!spelling.rewrites_arguments()) return;
  for (std::size_t i = 0; i < stored.tool_calls.size() && i < sent.tool_calls.size(); ++i) {
    const Match match = match_arguments(stored.tool_calls[i], sent.tool_calls[i], &spelling);
    if (match == Match::kSpelled) fit.spelled = true;
    if (match == Match::kDifferent) fit.differs = true;
  }
}

void compare(Fit& fit, const Message& stored, const Message& sent) {
  switch (match_reasoning(stored, sent)) {
    case ReasoningMatch::kDifferent:
      fit.differs = true;
      break;
    case ReasoningMatch::kEqual:
      ++fit.equal_reasonings;
      break;
    case ReasoningMatch::kAbsent:
      break;
  }
  if (stored.text != sent.text) fit.raw = false;
  for (std::size_t i = 0; i < stored.tool_calls.size() && i < sent.tool_calls.size(); ++i) {
    if (stored.tool_calls[i].id == sent.tool_calls[i].id) ++fit.equal_ids;
    if (stored.tool_calls[i].arguments != sent.tool_calls[i].arguments) fit.raw = false;
  }
}

Fit fit_of(const TurnPtr& leaf, std::span<const Message> sent, const Spelling* spelling) {
  Fit fit;
  const auto add = [&](const Message& stored, const Message& again) {
    compare(fit, stored, again);
    if (spelling != nullptr) compare_spelling(fit, stored, again, *spelling);
  };
  for (const Turn* turn = leaf.get(); turn != nullptr && !fit.differs; turn = turn->parent.get()) {
    const std::size_t answer = turn->message_count - 1;
    add(turn->answer, sent[answer]);
    const std::size_t first = answer - turn->messages.size();
    for (std::size_t i = 0; i < turn->messages.size(); ++i) add(turn->messages[i], sent[first + i]);
  }
  return fit;
}

}  // namespace

base::Task<base::Result<std::vector<TurnPtr>>> NodeSource::newest(const Digest&) {
  co_return std::vector<TurnPtr>();
}

bool continues(const TurnPtr& turn, std::span<const Message> messages) {
  if (turn->message_count >= messages.size()) return false;
  const auto suffix = messages.subspan(turn->message_count);
  const auto is_answer = [](const Message& message) { return message.role == Role::kAssistant; };
  if (std::any_of(suffix.begin(), suffix.end(), is_answer)) return false;
  auto history = messages.first(turn->message_count);
  for (const auto& letters : turn->path_letters.pieces()) {
    const std::size_t count = repeated(letters, history);
    if (count == 0) return false;
    history = history.subspan(count);
  }
  return history.empty();
}

Digest root_digest(DigestBuilder& builder, const RootKey& key) {
  builder.add('s', key.scope)
      .add('m', key.root->model)
      .add('k', key.root->tokenizer)
      .add('c', key.root->chat_template);
  builder.add('p', key.root->encoding_policy).add('h', key.head_arguments);
  for (const auto& tool : key.root->tools) builder.add('o', tool.raw);
  const std::string rules = key.spelling != nullptr ? key.spelling->rules() : "";
  if (!rules.empty()) builder.add('e', rules);
  return builder.finish();
}

std::vector<Digest> attach_digests(std::span<const Message> messages,
                                   std::span<const Digest> chain) {
  std::vector<Digest> digests;
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (i + 1 < messages.size() && messages[i].role == Role::kAssistant)
      digests.push_back(chain[i]);
  }
  return digests;
}

Placement place(std::span<const Message> messages, std::span<const Digest> chain,
                std::span<const TurnPtr> candidates, Equality equality, const Spelling* spelling) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    if (i + 1 >= messages.size() || messages[i].role != Role::kAssistant) continue;
    Placement best;
    std::tuple<std::size_t, bool, std::size_t> best_rank{};
    for (const auto& turn : candidates) {
      if (turn->digest != chain[i] || turn->message_count != i + 1) continue;
      const Fit fit = fit_of(turn, messages, spelling);
      if (fit.differs || (equality == Equality::kExact && !fit.raw)) continue;
      const std::tuple rank{fit.equal_ids, fit.raw, fit.equal_reasonings};
      const bool tie = best.parent && rank == best_rank;
      if (!best.parent || rank > best_rank || (tie && turn->seq > best.parent->seq)) {
        best.parent = turn;
        best_rank = rank;
        best.spelled = fit.spelled;
        best.ambiguous = tie;
      } else if (tie) {
        best.ambiguous = true;
      }
    }
    if (best.parent) {
      best.suffix = i + 1;
      return best;
    }
  }
  return {};
}

}  // namespace verbatim::trajectory
