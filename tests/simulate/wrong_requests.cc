#include "simulate/wrong_requests.h"

#include <array>

#include "json/writer.h"
#include "simulate/words.h"

namespace verbatim::simulate {
namespace {

// Bodies that are wrong in one place each.
struct WrongBody {
  const char* name;
  const char* body;
  bool by_ids_only = false;
};
constexpr std::array<WrongBody, 12> kBodies{{
    {"no JSON", R"({"messages":[{"role":"user","content":"hi"})"},
    {"no object", R"([1,2])"},
    {"bad UTF-8", "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}"},
    {"no messages", R"({"model":"toy"})"},
    {"empty messages", R"({"messages":[]})"},
    {"wrong type", R"({"messages":[{"role":"user","content":7}]})"},
    {"unknown role", R"({"messages":[{"role":"robot","content":"hi"}]})"},
    {"too many samples", R"({"messages":[{"role":"user","content":"hi"}],"n":129})"},
    {"unknown parameter", R"({"messages":[{"role":"user","content":"hi"}],"magic":1})", true},
    {"not served", R"({"messages":[{"role":"user","content":"hi"}],"logit_bias":{"1":2}})", true},
    {"out of range", R"({"messages":[{"role":"user","content":"hi"}],"top_p":3})"},
    {"image", R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":"x"}]}]})",
     true},
}};

std::string chat_target(const std::string& session) {
  return session.empty() ? "/v1/chat/completions" : "/sessions/" + session + "/v1/chat/completions";
}

std::string one_message(std::string_view role, std::string_view text) {
  json::Writer w;
  w.begin_object().key("messages").begin_array().begin_object();
  w.field("role", role).field("content", text).end_object().end_array().end_object();
  return w.take();
}

}  // namespace

WrongRequest some_wrong_request(const Conversation& conversation, base::Random& random) {
  WrongRequest wrong;
  wrong.target = chat_target(conversation.session);
  if (conversation.one_line && random.chance(150)) {
    wrong.name = "several answers in one line";
    wrong.body = R"({"messages":[{"role":"user","content":"hi"}],"n":2})";
    return wrong;
  }
  switch (random.below(9)) {
    case 0:
      wrong.name = "unknown session";
      wrong.target = chat_target("0123456789abcdef");
      wrong.body = one_message("user", "hi");
      wrong.status = 404;
      break;
    case 1:
      wrong.name = "unknown path";
      wrong.target = "/v1/chat/completion";
      wrong.body = one_message("user", "hi");
      wrong.status = 404;
      break;
    case 2:
      wrong.name = "wrong method";
      wrong.method = "PUT";
      wrong.body = one_message("user", "hi");
      wrong.status = 405;
      break;
    case 3:
      wrong.name = "last message the assistant's";
      wrong.body = one_message("assistant", "hi");
      break;
    case 4: {
      wrong.name = "prompt too long";
      wrong.by_ids_only = true;
      std::string text;
      while (text.size() < 30'000) text += some_words(random, 50) + " ";
      wrong.body = one_message("user", text);
      break;
    }
    default: {
      const auto& body = kBodies[random.below(kBodies.size())];
      wrong.name = body.name;
      wrong.body = body.body;
      wrong.by_ids_only = body.by_ids_only;
    }
  }
  return wrong;
}

}  // namespace verbatim::simulate
