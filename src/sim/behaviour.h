#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verbatim::sim {

// What a simulated model says when no script tells it.
enum class Behaviour {
  kCallFirstToolThenAnswer,  // calls the first tool it was given, then answers with what came back
  kEcho,                     // says the last message again
  kFixedText,
};
std::string_view name(Behaviour behaviour);  // "call-first-tool-then-answer" ...
std::optional<Behaviour> behaviour_named(std::string_view text);

// What a prompt says, read off its text as a model would: ChatML and role-token prompts, tools as
// JSON lines, Hermes tool responses.
struct PromptView {
  std::string last_turn;                     // text of the last message
  std::optional<std::string> tool_response;  // of the last turn, where it is one
  std::optional<std::string> tool;           // declaration of the first tool, JSON
  std::string prefill;                       // what the prompt says for the assistant already
};
PromptView read_prompt(std::string_view prompt);

struct ReplyOptions {
  Behaviour behaviour = Behaviour::kCallFirstToolThenAnswer;
  std::string fixed_text;
  bool thinks = false;  // the model opens with <think>, unless the prompt did so
};
// The text of the turn, without its stop token.
std::string reply_text(std::string_view prompt, const ReplyOptions& options);

// A JSON object that fits `schema` (JSON Schema of a tool's parameters), with words of `hint` where
// text is wanted.
std::string plausible_arguments(std::string_view schema, std::string_view hint);

}  // namespace verbatim::sim
