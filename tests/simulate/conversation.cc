#include "simulate/conversation.h"

#include "json/writer.h"
#include "simulate/words.h"

namespace verbatim::simulate {

using json::Writer;
using message::Message;
using message::Role;

namespace {

std::string tools_json(unsigned edition) {
  Writer w;
  w.begin_array().begin_object().field("type", "function").key("function").begin_object();
  w.field("name", "weather").field("description", "Weather, edition " + std::to_string(edition));
  w.key("parameters").raw(R"({"type":"object","properties":{"city":{"type":"string"}}})");
  w.end_object().end_object().end_array();
  return w.take();
}

Message message_of(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

void write_content(Writer& w, const std::string& text, base::Random& random) {
  w.key("content");
  if (!text.empty() && random.chance(100)) {
    w.begin_array().begin_object().field("type", "text").field("text", text);
    w.end_object().end_array();
  } else if (text.empty() && random.chance(500)) {
    w.null();
  } else {
    w.string(text);
  }
}

void write_calls(Writer& w, const Message& message, base::Random& random) {
  if (message.tool_calls.empty()) return;
  const bool respelled = random.chance(300);
  w.key("tool_calls").begin_array();
  for (const auto& call : message.tool_calls) {
    w.begin_object().field("id", call.id).field("type", "function");
    w.key("function").begin_object().field("name", call.name).key("arguments");
    w.string(respelled ? spelled_otherwise(call.arguments, random) : call.arguments);
    w.end_object().end_object();
  }
  w.end_array();
}

// What agents do to answers before they send them back.
void write_answer(Writer& w, const Message& message, base::Random& random) {
  std::string text = message.text;
  if (!text.empty() && random.chance(150)) text = trimmed(text);
  if (!text.empty() && random.chance(100)) text = "\n" + text + " ";
  write_content(w, text, random);
  if (message.reasoning && random.chance(500))
    w.field(random.chance(200) ? "reasoning" : "reasoning_content", *message.reasoning);
  write_calls(w, message, random);
}

void write_message(Writer& w, const Message& message, base::Random& random) {
  w.begin_object().field("role", message::name(message.role));
  if (message.role == Role::kAssistant) {
    write_answer(w, message, random);
  } else {
    write_content(w, message.text, random);
  }
  if (!message.tool_call_id.empty()) w.field("tool_call_id", message.tool_call_id);
  w.end_object();
}

void write_shape(Writer& w, const RequestShape& shape, base::Random& random) {
  if (shape.stream) w.field("stream", true);
  if (shape.stream && shape.usage)
    w.key("stream_options").begin_object().field("include_usage", true).end_object();
  if (shape.max_tokens > 0)
    w.field(random.chance(500) ? "max_tokens" : "max_completion_tokens", shape.max_tokens);
  if (shape.choices > 1) w.field("n", std::uint64_t{shape.choices});
  if (shape.logprobs) w.field("logprobs", true).field("top_logprobs", 2);
  if (shape.no_tools) w.field("tool_choice", "none");
  if (shape.stops) w.key("stop").begin_array().string("Rome").end_array();
  if (shape.no_thinking)
    w.key("chat_template_kwargs").begin_object().field("enable_thinking", false).end_object();
  if (random.chance(300)) w.field("temperature", 0.7);
}

// Where the request continues what is recorded.
void expect(const Conversation& conversation, Asked& asked) {
  const auto& items = conversation.items;
  std::size_t suffix = 0;
  for (std::size_t i = 0; i + 1 < items.size() && !items[i].touched; ++i) {
    if (items[i].message.role != Role::kAssistant || items[i].turn.empty()) continue;
    asked.parent = items[i].turn;
    suffix = i + 1;
  }
  for (std::size_t i = suffix; i < items.size(); ++i) {
    const Role role = items[i].message.role;
    if (role == Role::kAssistant || role == Role::kSystem) asked.may_start_over = true;
  }
  asked.messages = items.size();
  if (items.back().message.role == Role::kUser) asked.last_text = items.back().message.text;
}

}  // namespace

RequestShape some_shape(base::Random& random) {
  RequestShape shape;
  shape.stream = random.chance(600);
  shape.usage = random.chance(500);
  shape.logprobs = random.chance(80);
  shape.no_tools = random.chance(60);
  shape.no_thinking = random.chance(100);
  shape.stops = random.chance(60);
  if (random.chance(60)) shape.choices = 2 + static_cast<unsigned>(random.below(2));
  if (random.chance(180)) shape.max_tokens = 1 + random.below(random.chance(300) ? 200 : 14);
  return shape;
}

RequestShape by_messages(RequestShape shape) {
  shape.logprobs = false;
  return shape;
}

void open(Conversation& conversation, base::Random& random, const std::string& unique) {
  conversation.tools = random.chance(600) ? 1 : 0;
  if (random.chance(500))
    conversation.items.push_back({message_of(Role::kSystem, "You help. " + some_words(random, 3))});
  conversation.items.push_back(
      {message_of(Role::kUser, unique + ": " + some_words(random, 1 + random.below(8)))});
}

void go_on(Conversation& conversation, base::Random& random) {
  const Message last = conversation.items.back().message;
  if (last.role != Role::kAssistant) return;
  for (const auto& call : last.tool_calls) {
    Message result = message_of(Role::kTool, some_words(random, 1 + random.below(6)));
    result.tool_call_id = call.id;
    conversation.items.push_back({std::move(result)});
  }
  if (last.tool_calls.empty() || random.chance(50))
    conversation.items.push_back(
        {message_of(Role::kUser, some_words(random, 1 + random.below(8)))});
}

void edit(Conversation& conversation, base::Random& random) {
  if (random.chance(100)) {
    // Tools it never had make another conversation.
    conversation.tools = ++conversation.editions;
    conversation.items.front().touched = true;
    return;
  }
  Item& item = conversation.items[random.below(conversation.items.size())];
  item.touched = true;
  if (item.message.reasoning && random.chance(400)) {
    *item.message.reasoning += " " + some_words(random, 2) + "!";
    // Sent for sure, else nothing is edited.
    item.message.text += " (edited)";
    return;
  }
  item.message.text += " (edited " + std::to_string(random.below(1'000'000)) + ")";
}

void adopt(Conversation& conversation, const Asked& asked, const std::string& turn,
           message::Message answer) {
  auto& items = conversation.items;
  // What stands behind the parent belongs to the new turn now.
  bool behind = asked.parent.empty();
  for (auto& item : items) {
    item.touched = false;
    if (behind) item.turn.clear();
    if (item.turn == asked.parent) behind = true;
  }
  items.push_back({std::move(answer), turn});
}

std::string spell(const Conversation& conversation, const RequestShape& shape, base::Random& random,
                  Asked& asked) {
  expect(conversation, asked);
  asked.session = conversation.session;
  asked.stream = shape.stream;
  asked.choices = shape.choices;
  Writer w;
  w.begin_object().field("model", "toy").key("messages").begin_array();
  for (const auto& item : conversation.items) write_message(w, item.message, random);
  w.end_array();
  if (conversation.tools > 0) w.key("tools").raw(tools_json(conversation.tools));
  w.field("seed", asked.seed);
  write_shape(w, shape, random);
  w.end_object();
  return w.take();
}

}  // namespace verbatim::simulate
