#include "simulate/checks.h"
#include "simulate/words.h"

// What is checked of turns by messages, which have no ids: what the engine was told and what it
// said, in words.
namespace verbatim::simulate {

using message::Message;
using sim::Served;
using store::Turn;

namespace {

// Each character of `text` but blanks, in its order: a parser leaves out its markers and nothing
// else.
bool is_read_from(std::string_view text, std::string_view sampled) {
  std::size_t at = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    at = sampled.find(c, at);
    if (at == sampled.npos) return false;
    ++at;
  }
  return true;
}

}  // namespace

bool Checks::cannot_go_up(const Outcome& outcome) const {
  return setup_.driven.by_messages() && setup_.driven.mode->wire == protocol::Wire::kMessages &&
         outcome.status == 400 && outcome.error.find("JSON objects only") != std::string::npos;
}

// I4: the answer is what one generation said to its end, and its counts are that one's.
void Checks::check_said(const Turn& turn) {
  const std::string which = "the turn of " + turn.request_id;
  const auto& asked = setup_.ledger.requests[turn.request_id].asked;
  check(turn.sampling.seed == asked.seed, "I4", which + " with its seed", "another seed");
  check(!turn.token_exact && turn.prompt.empty() && turn.completion.empty() &&
            turn.logprobs.empty() && turn.spans.empty() && turn.usage.has_value(),
        "I4", which + " without ids, and with counts", "others");
  index_served();
  const Served* served = nullptr;
  for (const Served* entry : by_seed_[asked.seed + turn.choice]) {
    if (entry->whole && good(*entry, false) && entry->sent == turn.usage->completion_tokens &&
        entry->prompt.size() == turn.usage->prompt_tokens)
      served = entry;
  }
  if (served == nullptr)
    setup_.findings.fail("I4", "a whole generation behind " + which,
                         served_with(asked.seed + turn.choice));
  const std::string sampled = setup_.model.tokenizer->decode(served->ids);
  check(is_read_from(turn.answer.text, sampled), "I4", "text of " + which + " out of " + sampled,
        turn.answer.text);
  check(is_read_from(turn.answer.reasoning.value_or(""), sampled), "I4",
        "reasoning of " + which + " out of " + sampled, turn.answer.reasoning.value_or(""));
  for (const auto& call : turn.answer.tool_calls)
    check(is_read_from(call.arguments, sampled), "I4", "calls of " + which + " out of " + sampled,
          call.arguments);
  check_history(turn, *served);
}

// I4 of this path: the engine was told the recorded history, one message behind the other, and then
// what is new.
void Checks::check_history(const Turn& turn, const Served& served) {
  std::vector<const Message*> told;
  for (const Turn* each = &turn; each != nullptr; each = each->parent.get()) {
    if (each != &turn) told.insert(told.begin(), &each->answer);
    for (std::size_t i = each->messages.size(); i-- > 0;)
      told.insert(told.begin(), &each->messages[i]);
  }
  const std::string prompt = setup_.model.tokenizer->decode(served.prompt);
  std::size_t at = 0;
  for (const Message* message : told) {
    for (const auto& part : {message->reasoning.value_or(""), message->text}) {
      const std::string text = trimmed(part);
      const auto found = prompt.find(text, at);
      check(found != std::string::npos, "I4",
            "\"" + text + "\" in the prompt of " + turn.request_id + " behind what came before it",
            prompt);
      at = found + text.size();
    }
  }
  check(!turn.parent || by_turn_.contains(turn.parent->id), "I1",
        "a parent that was committed before", "none");
}

}  // namespace verbatim::simulate
