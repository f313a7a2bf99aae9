#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/testing/gateway_on_sim.h"

namespace verbatim::api::testing {

using Messages = std::vector<std::string>;  // of a request, each a JSON object

// {"role":"assistant"} with text, reasoning and calls as a client sends them back; "" leaves out.
std::string answered(std::string_view text, std::string_view reasoning = {},
                     std::string_view calls = {});
// tool_calls of one call of `look`; `arguments` as the text that the field holds.
std::string one_call(std::string_view id, std::string_view arguments, std::string_view more = {});
// A script step that samples `text` and ends as `finish`, without a stop id.
std::string open_step(std::string_view text, std::string_view finish = "length");

// A session in which something is tried, on the whole gateway with a simulated engine. What came of
// a request is told as one text:
//   "200 3:history"     a turn behind the third one; "root:first" a root; "~" behind it: ambiguous
//   "409 session_busy"  a refusal by its code, or else by the field it names
//   "asked 502 ..."     the same, and the engine had been asked before
//   "... CHANGED"       a refusal that left the store another one: never right
class Play {
 public:
  Play(GatewayOnSim& on, HttpCaller& client) : gateway(on), caller(client) {}

  GatewayOnSim& gateway;
  HttpCaller& caller;
  std::string mode;
  std::string path;      // of the session, "/sessions/..."
  Messages history;      // all that was recorded in front of the play
  std::size_t left = 0;  // steps of the row's script
  std::string call_id;   // of the recorded call

  static constexpr const char* kTools =
      R"(,"tools":[{"type":"function","function":{"name":"look","parameters":{}}}])";

  // Makes the session; false where that fails.
  base::Task<bool> open(std::string session_mode);
  // As many turns as asked for, out of three: user, a call; its result, reasoning and text; user,
  // text. Messages: 0 system, 1 user, 2 call, 3 result, 4 answer, 5 user, 6 answer.
  static std::vector<std::string> steps(std::size_t count);
  base::Task<void> record(std::size_t count);

  // All that is recorded and one more question.
  [[nodiscard]] Messages next() const;
  [[nodiscard]] std::string chat() const { return path + "/v1/chat/completions"; }
  [[nodiscard]] static std::string body(const Messages& messages, std::string_view more = kTools) {
    return chat_body(messages, more);
  }
  base::Task<std::string> ask(Messages messages, std::string more = kTools);
  // A body of any kind.
  base::Task<std::string> send(std::string text);
  base::Task<std::string> ask_next() { return ask(next()); }
  // Goes on behind the answer that came last.
  base::Task<std::string> go_on(Messages messages, std::string question);

  // A request of a client of its own, running beside what follows.
  struct Beside {
    std::optional<Answer> answer;
    std::vector<store::TurnPtr> before;
    std::string dump;
    std::uint64_t requests = 0;
    base::CancelSignal hang_up;
  };
  base::Task<void> begin(Beside& beside, std::string text);
  base::Task<std::string> end(Beside& beside);
  base::Task<void> pass(base::Duration time);

  base::Task<std::vector<store::TurnPtr>> turns();
  // What the rules of docs/design.md 1 say of all recorded turns: sampled by the engine for this
  // very prompt, each prompt beginning with its parent's row. "" where they hold.
  base::Task<std::string> unsound();

  Answer last;  // the answer of ask() or send()

 private:
  base::Task<std::string> outcome(const Answer& answer, const Beside& asked);
  base::Task<void> look(Beside& into);
};

// The place of a turn among those of its session.
std::string place(const store::TurnPtr& turn, const std::vector<store::TurnPtr>& all);

}  // namespace verbatim::api::testing
