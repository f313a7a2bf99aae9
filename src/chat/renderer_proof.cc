// How a family's bases are proved on probe histories before it is served.
#include <array>
#include <string>
#include <vector>

#include "chat/renderer.h"

namespace verbatim::chat {
namespace {

using message::Message;
using message::Role;

Message make(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

Message assistant(std::string text) {
  return make(Role::kAssistant, std::move(text));
}
Message thinking(Message message) {
  message.reasoning = "weighing it";
  return message;
}
Message calling(Message message) {
  message.tool_calls.push_back({"call00001", "look_up", R"({"key": "value"})"});
  return message;
}

Message tool(std::string text) {
  Message message = make(Role::kTool, std::move(text));
  message.tool_call_id = "call00001";
  return message;
}

// Histories that end with a recorded answer: plain, in a tool loop, with reasoning, after one.
std::vector<std::vector<Message>> histories() {
  const Message system = make(Role::kSystem, "be brief");
  const Message user = make(Role::kUser, "a question");
  return {
      {system, user, assistant("an answer")},
      {system, user, calling(thinking(assistant("let me see")))},
      {user, calling(thinking(assistant(""))), tool("a result"), thinking(assistant("so it is"))},
      {user, thinking(assistant("first")), make(Role::kUser, "go on"),
       calling(assistant("let me look"))}};
}

// Suffixes of one class. Those that begin with a tool message fit histories that end with a call,
// the others all.
std::vector<std::vector<Message>> suffixes(unsigned suffix_class, const Family& family) {
  const Message user = make(Role::kUser, "next question");
  const Message system = make(Role::kSystem, "a notice");
  const Message inserted = assistant("a summary");
  const Message called = calling(thinking(assistant("calling")));
  const Message result = tool("found it");
  switch (suffix_class) {
    case 0: {
      std::vector<std::vector<Message>> list{{result}, {result, result}};
      if (!family.not_a_query_start.empty())
        list.push_back(
            {make(Role::kUser, family.not_a_query_start + "data" + family.not_a_query_end)});
      return list;
    }
    case 1:
      return {{user}, {user, user}, {result, user}, {result, user, result}};
    case 2:
      return {{result, called, result}, {result, inserted, result}};
    case 3:
      return {{user, inserted, user}, {user, called, result}, {result, inserted, user}};
    case 4:
      return {{system}, {result, system}, {system, result}};
    case 5:
      return {{system, user}, {user, system}, {result, system, user}};
    case 6:
      return {{result, called, result, system}, {system, result, called, result}};
    default:
      return {{user, inserted, system, user}, {system, user, called, result}};
  }
}

constexpr std::array<const char*, 8> kClassNames{"tool results",
                                                 "user",
                                                 "assistant",
                                                 "user and assistant",
                                                 "system",
                                                 "system and user",
                                                 "system and assistant",
                                                 "system, user and assistant"};

}  // namespace

bool Renderer::proves_on(const Family::Base& base, bool with_tools,
                         std::span<const Message> history, std::span<const Message> suffix,
                         const std::string& arguments) const {
  const message::Tool declared{
      "look_up",
      R"({"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}})"};
  auto parsed = json::Document::parse(arguments);
  TemplateInputs inputs;
  inputs.tools = {&declared, 1};
  if (parsed) inputs.arguments = parsed->root();
  std::vector<Message> whole(history.begin(), history.end());
  whole.insert(whole.end(), suffix.begin(), suffix.end());
  const auto full = text(whole, inputs);
  if (!full) return false;
  const auto end = end_of_message(*full, history.size() - 1);
  if (!end) return false;
  if (!with_tools) inputs.tools = {};
  const auto cut = render_on_base(base, history.back().tool_calls, suffix, history.size(), inputs);
  return cut && cut->text.bytes.substr(cut->at) == full->bytes.substr(*end);
}

bool Renderer::proves(const Family::Base& base, bool with_tools, unsigned suffix_class) const {
  std::vector<std::string> argument_sets{"{}"};
  for (const auto& name : family_.opener_arguments)
    argument_sets.push_back("{\"" + name + "\": false}");
  for (const auto& suffix : suffixes(suffix_class, family_)) {
    for (const auto& history : histories()) {
      if (suffix.front().role == Role::kTool && history.back().tool_calls.empty()) continue;
      for (const auto& arguments : argument_sets) {
        if (!proves_on(base, with_tools, history, suffix, arguments)) return false;
      }
    }
  }
  return true;
}

void Renderer::prove_classes() {
  for (unsigned suffix_class = 0; suffix_class < kClasses; ++suffix_class) {
    const bool query = (suffix_class & 1) != 0;
    for (const bool with_tools : {false, true}) {
      for (const auto& base : query ? family_.query_bases : family_.no_query_bases) {
        if (proved_[suffix_class].base == nullptr && proves(base, with_tools, suffix_class))
          proved_[suffix_class] = {&base, with_tools};
      }
    }
  }
}

std::string Renderer::describe_classes() const {
  std::string yes;
  std::string no;
  for (unsigned i = 0; i < kClasses; ++i) {
    std::string& list = proved_[i].base != nullptr ? yes : no;
    if (!list.empty()) list += "; ";
    list += kClassNames[i];
  }
  return "goes on behind a turn with: " + (yes.empty() ? "nothing" : yes) +
         (no.empty() ? "" : ". New root with: " + no);
}

}  // namespace verbatim::chat
