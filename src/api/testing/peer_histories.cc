// What clients make of a history that was recorded: regenerated, edited, spelled otherwise, cut.
#include "api/testing/peer_rows.h"

namespace verbatim::api::testing {
namespace {

using base::Task;

constexpr const char* kBack = "400 session_diverged";
constexpr const char* kConflict = "409 session_diverged";
constexpr const char* kOn = "200 3:history";
const std::vector<std::string> kOne{R"({"text":"x"})"};
const std::vector<std::string> kTwo{R"({"text":"x"})", R"({"text":"y"})"};

// All that is recorded but for the last answer.
Messages last_again(const Play& play) {
  auto messages = play.history;
  messages.pop_back();
  return messages;
}

std::string look_call(const Play& play, std::string_view id = {}) {
  return one_call(id.empty() ? play.call_id : id, R"({"a": 1, "b": "x"})");
}

// The next request, with one message of its history replaced.
Messages replaced(const Play& play, std::size_t at, std::string with) {
  auto messages = play.next();
  messages[at] = std::move(with);
  return messages;
}

// A first turn out of the step, gone on behind.
Task<std::string> first_and_on(Play& play) {
  Messages messages(1, message("user", "a"));
  auto out = co_await play.ask(messages);
  const auto finish = play.last.text("choices", 0, "finish_reason");
  const auto content = play.last.text("choices", 0, "message", "content");
  out += " " + finish + " " + content + ", ";
  out += co_await play.go_on(messages, "b");
  const auto all = co_await play.turns();
  const bool closed = !all.empty() && !all.back()->spans.empty() &&
                      all.back()->spans.front().source == message::SpanSource::kClose;
  if (closed) out += " closed";
  co_return out;
}

const std::vector<PeerRow> kRows{
    {"probe 1", "the last turn is sampled again",
     "they replace it or add a sibling; so do we, by mode", 3, kOne,
     [](Play& p) -> Task<std::string> { co_return co_await p.ask(last_again(p)); }, "200 2:history",
     "200 2:rollback", kConflict},
    {"probe 2",
     "the same, and the engine answers with a 500",
     "two of three lost the recorded turn then; nothing changes here before a commit",
     3,
     {R"({"when":{"tail":"more"},"text":"x"})", R"({"status":500,"body":{"error":{}}})"},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.ask(last_again(p));
       out += ", ";
       out += co_await p.ask_next();
       co_return out;
     },
     "asked 500 engine_error, 200 3:history",
     "asked 500 engine_error, 200 3:history",
     "409 session_diverged, 200 3:history"},
    {"probe 3",
     "a second rollback before anything was committed",
     "one rendered all anew, because its window of checkpoints was used up; a plan uses up nothing",
     3,
     {R"({"status":503,"body":{"error":{}}})", R"({"text":"x"})"},
     [](Play& p) -> Task<std::string> {
       auto out = co_await p.ask(last_again(p));
       out += ", ";
       out += co_await p.ask(last_again(p));
       co_return out;
     },
     "asked 503 engine_error, 200 2:history",
     "asked 503 engine_error, 200 2:rollback",
     "409 session_diverged, 409 session_diverged"},
    {"probe 4", "the first turn is sampled again", "one refused it for want of an answer in it", 1,
     kOne, [](Play& p) -> Task<std::string> { co_return co_await p.ask(last_again(p)); },
     "200 root:first", "200 root:rollback", kConflict},
    {"probe 5", "two turns back", "they refuse or branch, by version; we by mode", 3, kOne,
     [](Play& p) -> Task<std::string> {
       auto messages = p.history;
       messages.resize(4);
       co_return co_await p.ask(std::move(messages));
     },
     "200 1:history", kBack, kConflict},
    {"probe 6", "the first user message rewritten", "as they", 3, kOne,
     [](Play& p) -> Task<std::string> {
       co_return co_await p.ask(replaced(p, 1, message("user", "other")));
     },
     "200 root:history", kBack, kConflict},
    {"probe 7", "the last answer's text edited",
     "one dropped the turn and made the edited text prompt, without a word; a line refuses it", 3,
     kOne,
     [](Play& p) -> Task<std::string> { co_return co_await p.ask(replaced(p, 6, answered("ed"))); },
     "200 2:history", kBack, kConflict},
    {"probe 8", "reasoning edited", "the same", 3, kOne,
     [](Play& p) -> Task<std::string> {
       co_return co_await p.ask(replaced(p, 4, answered("a2", "no")));
     },
     "200 1:history", kBack, kConflict},
    {"probe 9", "reasoning dropped by the client",
     "two rendered the answer anew: sampled ids lost, and no sign of it; absent reasoning is equal",
     3, kOne,
     [](Play& p) -> Task<std::string> { co_return co_await p.ask(replaced(p, 4, answered("a2"))); },
     kOn, kOn, kOn},
    {"probe 10", "arguments of a call written anew",
     "refused, or the turn dropped: they compare text; we compare values", 3, kOne,
     [](Play& p) -> Task<std::string> {
       co_return co_await p.ask(
           replaced(p, 2, answered("", "", one_call(p.call_id, R"({"b":"x","a":1.0})"))));
     },
     kOn, kOn, kOn},
    {"probe 11", "`index` removed from the calls, or added to them",
     "one refused what SDKs do to each call; members beside name and arguments are not compared", 3,
     kTwo,
     [](Play& p) -> Task<std::string> {
       const auto with = one_call(p.call_id, R"({"a": 1, "b": "x"})", ",\"index\":0");
       auto out = co_await p.ask(replaced(p, 2, answered("", "", look_call(p))));
       if (p.mode != "tree") co_return out;
       out += ", ";
       out += co_await p.ask(replaced(p, 2, answered("", "", with)));
       co_return out;
     },
     "200 3:history, 200 3:history", kOn, kOn},
    {"probe 12", "the call's id changed, and its result's",
     "refused, or the turn dropped; equal values are enough, an id only ranks equals", 3, kOne,
     [](Play& p) -> Task<std::string> {
       auto messages = replaced(p, 2, answered("", "", look_call(p, "made_up")));
       messages[3] = R"({"role":"tool","tool_call_id":"made_up","content":"42"})";
       co_return co_await p.ask(std::move(messages));
     },
     kOn, kOn, kOn},
    {"probe 13", "the client inserts an assistant message",
     "one refuses it; it is the client's text at mask 0, as with the others", 3, kOne,
     [](Play& p) -> Task<std::string> {
       auto messages = p.history;
       messages.push_back(answered("mine"));
       messages.push_back(message("user", "more"));
       co_return co_await p.ask(std::move(messages));
     },
     kOn, kOn, kOn},
    {"probe 15",
     "going on behind a turn that was cut by length",
     "two of them built a prompt without a close token; it is put in, at mask 0",
     0,
     {open_step("one two"), R"({"text":"x"})"},
     first_and_on,
     "200 root:first length one two, 200 1:history closed",
     "200 root:first length one two, 200 1:history closed",
     "200 root:first length one two, 200 1:history closed"},
    {"probe 16",
     "nothing sampled but the stop id",
     "as they",
     0,
     {R"({"output_ids":[554],"finish":"stop"})", R"({"text":"x"})"},
     first_and_on,
     "200 root:first stop null, 200 1:history",
     "200 root:first stop null, 200 1:history",
     "200 root:first stop null, 200 1:history"},
    {"probe 17",
     "no id at all",
     "one kind of one peer said 502; it is what was sampled",
     0,
     {R"({"output_ids":[],"finish":"stop"})", R"({"text":"x"})"},
     first_and_on,
     "200 root:first stop null, 200 1:history closed",
     "200 root:first stop null, 200 1:history closed",
     "200 root:first stop null, 200 1:history closed"},
    {"probe 18",
     "an answer of a call alone, its content null",
     "502 by two of them: the call is the answer",
     0,
     {Play::steps(1).front(), R"({"text":"x"})"},
     first_and_on,
     "200 root:first tool_calls null, 200 1:history",
     "200 root:first tool_calls null, 200 1:history",
     "200 root:first tool_calls null, 200 1:history"},
    {"probe 19",
     "cut within its reasoning, its content null",
     "502 by all of them, tokens spent: it is a turn, and its reasoning is closed to go on",
     0,
     {open_step("<think>\nwhy"), R"({"text":"x"})"},
     first_and_on,
     "200 root:first length null, 200 1:history closed",
     "200 root:first length null, 200 1:history closed",
     "200 root:first length null, 200 1:history closed"},
    {"probe 37",
     "a message without a role in a later turn",
     "one took the request for a new root without that message; it is wrong whatever the mode",
     3,
     {},
     [](Play& p) -> Task<std::string> {
       co_return co_await p.ask(replaced(p, 7, R"({"content":"more"})"));
     },
     "400 messages[7].role",
     "400 messages[7].role",
     "400 messages[7].role"},
    {"probe 38",
     "arguments that are no JSON, in a call that was never sampled",
     "500: they render what they can't read. This family prints the text as it is, which can't "
     "fail; one that needs the value refuses the field (tests/e2e/test_branches.py)",
     0,
     {R"({"text":"x"})"},
     [](Play& p) -> Task<std::string> {
       Messages messages{message("user", "u"), answered("", "", one_call("c", "{\"a\":")),
                         R"({"role":"tool","tool_call_id":"c","content":"42"})"};
       co_return co_await p.ask(std::move(messages));
     },
     "200 root:first",
     "200 root:first",
     "200 root:first"},
    {"probe 41", "the tools changed in mid-session",
     "200 and the new tools nowhere in the prompt; the model is to see them, so all is rendered "
     "anew",
     3, kOne,
     [](Play& p) -> Task<std::string> {
       co_return co_await p.ask(p.next(),
                                R"(,"tools":[{"type":"function","function":{"name":"hear"}}])");
     },
     "200 root:tools", kBack, kConflict},
    {"probe 42",
     "the whole history again and nothing new",
     "200, and two openers in a row in the prompt: there is nothing to answer",
     3,
     {},
     [](Play& p) -> Task<std::string> { co_return co_await p.ask(p.history); },
     "400 messages",
     "400 messages",
     "400 messages"},
};

}  // namespace

std::span<const PeerRow> peer_histories() {
  return kRows;
}

}  // namespace verbatim::api::testing
