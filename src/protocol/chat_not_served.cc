#include "protocol/chat_not_served.h"

#include <algorithm>
#include <string>

#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Status;
using json::Value;

// Known parameters that are not served, with the value that asks for what is done anyway (JSON
// text; empty: none does). OpenAI first, then what vLLM and SGLang add.
struct NotServed {
  std::string_view name;
  std::string_view neutral;
};

constexpr NotServed kNotServed[] = {
    {"audio", ""},
    {"function_call", ""},
    {"functions", ""},
    {"logit_bias", "{}"},
    {"modalities", "[\"text\"]"},
    {"prediction", ""},
    {"reasoning_effort", "\"medium\""},
    {"store", "false"},
    {"verbosity", "\"medium\""},
    {"web_search_options", ""},
    {"add_generation_prompt", "true"},
    {"add_special_tokens", "false"},
    {"allowed_token_ids", ""},
    {"bad_words", "[]"},
    {"chat_template", ""},
    {"continue_final_message", "false"},
    {"custom_logit_processor", ""},
    {"custom_params", ""},
    {"documents", ""},
    {"ebnf", ""},
    {"echo", "false"},
    {"guided_choice", ""},
    {"guided_grammar", ""},
    {"guided_json", ""},
    {"guided_regex", ""},
    {"ignore_eos", "false"},
    {"include_reasoning", "true"},
    {"include_stop_str_in_output", "false"},
    {"input_ids", ""},
    {"length_penalty", ""},
    {"logprob_token_ids", ""},
    {"lora_path", ""},
    {"min_tokens", "0"},
    {"regex", ""},
    {"request_id", ""},
    {"return_hidden_states", "false"},
    {"rid", ""},
    {"separate_reasoning", "true"},
    {"session_params", ""},
    {"skip_special_tokens", "true"},
    {"spaces_between_special_tokens", ""},
    {"stop_regex", ""},
    {"stream_reasoning", "true"},
    {"structured_outputs", ""},
    {"thinking_token_budget", ""},
    {"truncate_prompt_tokens", ""},
};

std::string without_spaces(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') out.push_back(c);
  }
  return out;
}

Status refuse(const NotServed& parameter, const Value& value) {
  if (!parameter.neutral.empty() && without_spaces(value.raw()) == parameter.neutral) return {};
  std::string why = "this server does not serve the parameter";
  if (!parameter.neutral.empty()) why += "; leave it out or send " + std::string(parameter.neutral);
  if (parameter.name == "reasoning_effort") {
    why += "; thinking is switched by chat_template_kwargs where the model's template can";
  }
  return unsupported(std::string(parameter.name), why);
}

}  // namespace

Status check_not_served(std::string_view name, const Value& value) {
  for (const auto& parameter : kNotServed) {
    if (parameter.name == name) return refuse(parameter, value);
  }
  // The name is the client's: no longer than an answer needs, cut between two characters.
  std::size_t shown = std::min<std::size_t>(name.size(), 64);
  while (shown < name.size() && (static_cast<unsigned char>(name[shown]) & 0xC0) == 0x80) --shown;
  return unsupported(std::string(name.substr(0, shown)), "unknown parameter");
}

}  // namespace verbatim::protocol
