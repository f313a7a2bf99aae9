#include "chat/testing/toy_chat.h"

#include <cstdlib>

#include "base/files.h"
#include "json/writer.h"
#include "tokenizer/tokenizer.h"

namespace verbatim::chat::testing {

using message::Message;
using message::Role;

namespace {

Message make(Role role, std::string text) {
  Message message;
  message.role = role;
  message.text = std::move(text);
  return message;
}

}  // namespace

std::shared_ptr<const tokenizer::Tokenizer> toy_tokenizer() {
  static const auto kTokenizer = [] {
    const auto files = base::system_files();
    return tokenizer::Tokenizer::load(*files, "tests/cases/toy").value();
  }();
  return kTokenizer;
}

std::string toy_template(std::string_view name) {
  const auto files = base::system_files();
  return files->read("tests/cases/toy/" + std::string(name) + ".jinja", 1 << 20).value();
}

const Family& family_named(std::string_view name) {
  for (const auto& family : families()) {
    if (family.name == name) return family;
  }
  std::abort();
}

std::shared_ptr<const Renderer> toy_renderer(std::string_view name, Policy policy) {
  return renderer_of(toy_template(name), family_named(name), policy).value();
}

base::Result<std::shared_ptr<const Renderer>> renderer_of(std::string chat_template, Family family,
                                                          Policy policy) {
  Renderer::Options options;
  options.policy = policy;
  return Renderer::create(toy_tokenizer(), std::move(chat_template), std::move(family),
                          std::move(options));
}

base::TokenId added(std::string_view content) {
  const auto* token = toy_tokenizer()->added(content);
  if (token == nullptr) std::abort();
  return token->id;
}

base::TokenIds encoded(std::string_view text) {
  base::TokenIds ids;
  toy_tokenizer()->encode(text, ids);
  return ids;
}

std::string decoded(const base::TokenIds& ids) {
  std::string text;
  for (const auto id : ids) text += toy_tokenizer()->bytes(id);
  return text;
}

Message system(std::string text) {
  return make(Role::kSystem, std::move(text));
}
Message user(std::string text) {
  return make(Role::kUser, std::move(text));
}
Message assistant(std::string text) {
  return make(Role::kAssistant, std::move(text));
}
Message thinking(std::string reasoning, std::string text) {
  Message message = assistant(std::move(text));
  message.reasoning = std::move(reasoning);
  return message;
}
Message calling(std::string text, std::string name, std::string arguments) {
  Message message = assistant(std::move(text));
  message.tool_calls.push_back({"call_1", std::move(name), std::move(arguments)});
  return message;
}
Message result(std::string text) {
  Message message = make(Role::kTool, std::move(text));
  message.tool_call_id = "call_1";
  return message;
}

message::Tool tool(std::string name, std::string description) {
  json::Writer w;
  w.begin_object().field("type", "function").key("function").begin_object();
  w.field("name", name).field("description", description);
  w.key("parameters").begin_object().field("type", "object").end_object();
  w.end_object().end_object();
  return {std::move(name), w.take()};
}

}  // namespace verbatim::chat::testing
