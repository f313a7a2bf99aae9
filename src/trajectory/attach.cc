#include "trajectory/attach.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

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
  std::size_t ids = 0;
  bool raw = true;  // texts and arguments byte for byte
  std::size_t equal_reasonings = 0;
  std::size_t reasonings = 0;  // that were sent
  bool named = false;          // by the ids of its answer's calls

  [[nodiscard]] auto rank() const { return std::tuple(equal_ids, raw, equal_reasonings); }
  // No other turn of its digest could be ranked higher.
  [[nodiscard]] bool best_possible() const {
    return named || (raw && equal_ids == ids && equal_reasonings == reasonings);
  }
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
  if (sent.reasoning && !sent.reasoning->empty()) ++fit.reasonings;
  if (stored.text != sent.text) fit.raw = false;
  if (message::parts_of(stored) != message::parts_of(sent)) fit.raw = false;
  for (std::size_t i = 0; i < stored.tool_calls.size() && i < sent.tool_calls.size(); ++i) {
    ++fit.ids;
    if (stored.tool_calls[i].id == sent.tool_calls[i].id) ++fit.equal_ids;
    if (stored.tool_calls[i].arguments != sent.tool_calls[i].arguments) fit.raw = false;
  }
}

void compare(Fit& fit, const Turn& turn, std::span<const Message> sent, const Spelling* spelling) {
  const auto add = [&](const Message& stored, const Message& again) {
    compare(fit, stored, again);
    if (spelling != nullptr) compare_spelling(fit, stored, again, *spelling);
  };
  const std::size_t answer = turn.message_count - 1;
  const std::size_t ids = fit.ids, equal_ids = fit.equal_ids;
  add(turn.answer, sent[answer]);
  fit.named = fit.ids > ids && fit.ids - ids == fit.equal_ids - equal_ids;
  const std::size_t first = answer - turn.messages.size();
  for (std::size_t i = 0; i < turn.messages.size(); ++i) add(turn.messages[i], sent[first + i]);
}

// Turns that are alike mostly are siblings: what is above them is compared once.
class Fits {
 public:
  Fits(std::span<const Message> sent, const Spelling* spelling)
      : sent_(sent), spelling_(spelling) {}

  Fit of(const Turn& leaf) {
    if (leaf.parent.get() != above_) {
      above_ = leaf.parent.get();
      above_fit_ = {};
      for (const Turn* turn = above_; turn != nullptr && !above_fit_.differs;
           turn = turn->parent.get())
        compare(above_fit_, *turn, sent_, spelling_);
    }
    Fit fit = above_fit_;
    if (!fit.differs) compare(fit, leaf, sent_, spelling_);
    return fit;
  }

 private:
  std::span<const Message> sent_;
  const Spelling* spelling_;
  const Turn* above_ = nullptr;
  Fit above_fit_;
};

// Numbers count within a session; of turns of two (stateless chat) time tells.
bool newer(const Turn& a, const Turn& b) {
  if (a.session_id == b.session_id) return a.seq > b.seq;
  return a.times.committed_ms > b.times.committed_ms;
}

// Of the candidates of one digest; `cut`: there may be more.
Placement best_of(std::span<const TurnPtr> candidates, Fits& fits, Equality equality, bool cut) {
  Placement best;
  Fit best_fit;
  for (const auto& turn : candidates) {
    const Fit fit = fits.of(*turn);
    if (fit.differs || (equality == Equality::kExact && !fit.raw)) continue;
    const bool tie = best.parent && fit.rank() == best_fit.rank();
    if (!best.parent || fit.rank() > best_fit.rank() || (tie && newer(*turn, *best.parent))) {
      best.parent = turn;
      best.spelled = fit.spelled;
      best_fit = fit;
      best.ambiguous = tie;
    } else if (tie) {
      best.ambiguous = true;
    }
  }
  if (cut && best.parent && !best_fit.best_possible()) return {};
  return best;
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

std::vector<Digest> cut_digests(std::span<const TurnPtr> candidates) {
  std::unordered_map<Digest, std::size_t, DigestHash> counts;
  for (const auto& turn : candidates) ++counts[turn->digest];
  std::vector<Digest> cut;
  for (const auto& turn : candidates) {
    auto& count = counts[turn->digest];
    if (count >= kMostAlike) cut.push_back(turn->digest);
    count = 0;
  }
  return cut;
}

Placement place(std::span<const Message> messages, std::span<const Digest> chain,
                std::span<const TurnPtr> candidates, Equality equality, const Spelling* spelling) {
  std::map<std::size_t, std::vector<TurnPtr>, std::greater<>> by_depth;
  for (const auto& turn : candidates) {
    const std::size_t count = turn->message_count;
    const bool fits = count != 0 && count < messages.size() && turn->digest == chain[count - 1] &&
                      messages[count - 1].role == Role::kAssistant;
    if (fits) by_depth[count].push_back(turn);
  }
  Fits fits(messages, spelling);
  for (const auto& [count, turns] : by_depth) {
    auto best = best_of(turns, fits, equality, turns.size() >= kMostAlike);
    if (!best.parent) continue;
    best.suffix = count;
    return best;
  }
  return {};
}

}  // namespace verbatim::trajectory
