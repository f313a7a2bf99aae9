#include "protocol/content_parts.h"

#include <gtest/gtest.h>

#include "protocol/chat_request.h"
#include "protocol/messages_input.h"
#include "protocol/responses_input.h"

namespace verbatim::protocol {
namespace {

constexpr Wire kWires[] = {Wire::kChat, Wire::kResponses, Wire::kMessages};
constexpr const char* kData =
    R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}})";

// A conversation of `messages` as a client sends them.
Conversation conversation_of(const std::string& messages) {
  auto request =
      read_chat_request("{\"messages\":[" + messages + "]}", {.unserved = Unserved::kKeep});
  EXPECT_TRUE(request.ok()) << messages;
  Conversation conversation;
  conversation.model = "m";
  if (request.ok()) conversation.messages = std::move(request->messages);
  return conversation;
}

std::string from_user(const std::string& parts) {
  return R"({"role":"user","content":[)" + parts + "]}";
}

// Of the body's last message, item or result.
std::string content_in(Wire wire, const Conversation& conversation, const char* name = "content") {
  const auto body = json::Document::parse(write_conversation(wire, conversation));
  EXPECT_TRUE(body.ok());
  const auto list = body->root().get(wire == Wire::kResponses ? "input" : "messages");
  std::string content;
  for (const auto& each : *list) {
    if (const auto value = each.value.get(name)) content = value->raw();
  }
  return content;
}

// "" stands for a refusal of `field`.
struct Row {
  const char* name;
  const char* part;
  const char* item;
  const char* block;
  const char* field = "";
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"image in a data URL", kData,
       R"({"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"})",
       R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}})"},
      {"image on the web",
       R"({"type":"image_url","image_url":{"url":"HTTPS://example.com/a.png","detail":"auto"}})",
       R"({"type":"input_image","image_url":"HTTPS://example.com/a.png","detail":"auto"})",
       R"({"type":"image","source":{"type":"url","url":"HTTPS://example.com/a.png"}})"},
      {"image with a detail",
       R"({"type":"image_url","image_url":{"url":"http://x/a","detail":"low"}})",
       R"({"type":"input_image","image_url":"http://x/a","detail":"low"})", "",
       ".image_url.detail"},
      {"image on a disk", R"({"type":"image_url","image_url":{"url":"file:///a.png"}})",
       R"({"type":"input_image","image_url":"file:///a.png","detail":"auto"})", "",
       ".image_url.url"},
      {"image that is none",
       R"({"type":"image_url","image_url":{"url":"data:text/plain;base64,AA=="}})",
       R"({"type":"input_image","image_url":"data:text/plain;base64,AA==","detail":"auto"})", "",
       ".image_url.url"},
      {"document",
       R"({"type":"file","file":{"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"}})",
       R"({"type":"input_file","file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"})",
       R"({"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a.pdf"})"},
      {"file of another type",
       R"({"type":"file","file":{"file_data":"data:text/csv;base64,AAAA"}})",
       R"({"type":"input_file","file_data":"data:text/csv;base64,AAAA"})", "", ".file.file_data"},
      {"file that the server has", R"({"type":"file","file":{"file_id":"file-1"}})",
       R"({"type":"input_file","file_id":"file-1"})", "", ".file.file_id"},
      {"sound", R"({"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}})", "", "",
       ""},
      {"what nobody knows", R"({"type":"hologram","hologram":{}})", "", "", ""},
      {"member that goes along",
       R"({"type":"text","text":"x","cache_control":{"type":"ephemeral"}})",
       R"({"type":"input_text","text":"x","cache_control":{"type":"ephemeral"}})",
       R"({"type":"text","text":"x","cache_control":{"type":"ephemeral"}})"},
      {"member within an image",
       R"({"type":"image_url","image_url":{"url":"http://x/a","crop":1}})", "", "",
       ".image_url.crop"},
  };
  return kRows;
}

TEST(ContentParts, have_a_word_in_the_protocol_or_are_refused_by_name_with_a_way_out) {
  for (const auto& row : rows()) {
    SCOPED_TRACE(row.name);
    // Text in front, and an image, so that none is text alone.
    const std::string front = R"({"type":"text","text":"look"},)" + std::string(kData) + ",";
    const auto conversation = conversation_of(from_user(front + row.part));
    EXPECT_TRUE(check_conversation(Wire::kChat, conversation).ok());
    for (const Wire wire : {Wire::kResponses, Wire::kMessages}) {
      const std::string expected = wire == Wire::kResponses ? row.item : row.block;
      const auto status = check_conversation(wire, conversation);
      if (!expected.empty()) {
        ASSERT_TRUE(status.ok()) << status.error().message;
        const auto content = content_in(wire, conversation);
        EXPECT_TRUE(content.ends_with("," + expected + "]")) << content;
        continue;
      }
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().field, "messages[0].content[2]" + std::string(row.field));
      const auto& text = status.error().message;
      EXPECT_TRUE(text.find("leave it out") != text.npos || text.find("expected") != text.npos)
          << text;
    }
  }
}

TEST(ContentParts, go_up_byte_for_byte_as_chat) {
  for (const auto& row : rows()) {
    const std::string parts =
        std::string("[ ") + kData + " ,\n" + row.part + R"(, {"text":"\u0041","type":"text"} ])";
    const auto conversation = conversation_of(R"({"role":"user","content":)" + parts + "}");
    EXPECT_EQ(content_in(Wire::kChat, conversation), parts) << row.name;
    EXPECT_TRUE(conversation.messages[0].text.ends_with("A"));
  }
}

TEST(ContentParts, of_text_alone_are_the_text) {
  const auto conversation =
      conversation_of(from_user(R"({"type":"text","text":"a"},{"type":"text","text":"b"})"));
  EXPECT_EQ(conversation.messages[0].text, "a\nb");
  EXPECT_TRUE(message::parts_of(conversation.messages[0]).empty());
  for (const Wire wire : kWires) EXPECT_EQ(content_in(wire, conversation), R"("a\nb")");
}

TEST(ContentParts, stand_in_results_of_tools) {
  const auto conversation = conversation_of(
      R"({"role":"user","content":"a"},{"role":"assistant","tool_calls":[)"
      R"({"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},)"
      R"({"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"seen"},)" +
      std::string(kData) + "]}");
  ASSERT_TRUE(check_conversation(Wire::kResponses, conversation).ok());
  EXPECT_EQ(content_in(Wire::kResponses, conversation, "output"),
            R"([{"type":"input_text","text":"seen"},)"
            R"({"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}])");
  ASSERT_TRUE(check_conversation(Wire::kMessages, conversation).ok());
  EXPECT_EQ(
      content_in(Wire::kMessages, conversation),
      R"([{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"seen"},)"
      R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}])");
}

TEST(ContentParts, are_refused_where_a_protocol_has_text_alone) {
  const auto instructed =
      conversation_of(R"({"role":"system","content":[{"type":"text","text":"x"},)" +
                      std::string(kData) + R"(]},{"role":"user","content":"a"})");
  EXPECT_TRUE(check_conversation(Wire::kResponses, instructed).ok());
  EXPECT_EQ(check_conversation(Wire::kMessages, instructed).error().field,
            "messages[0].content[1]");
  const auto refusal = conversation_of(
      R"({"role":"user","content":"a"},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]},)"
      R"({"role":"user","content":"b"})");
  EXPECT_TRUE(check_conversation(Wire::kChat, refusal).ok());
  for (const Wire wire : {Wire::kResponses, Wire::kMessages})
    EXPECT_EQ(check_conversation(wire, refusal).error().field, "messages[1].content[0]");
}

TEST(ContentParts, are_read_back_as_the_parts_they_were) {
  const auto conversation = conversation_of(
      R"({"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":)"
      R"({"url":"data:image/png;base64,AAAA","detail":"auto"}},{"type":"file","file":)"
      R"({"file_data":"data:application/pdf;base64,AAAA","filename":"a.pdf"}}]})");
  for (const Wire wire : {Wire::kResponses, Wire::kMessages}) {
    const auto body = json::Document::parse(write_conversation(wire, conversation));
    ASSERT_TRUE(body.ok());
    const auto again = wire == Wire::kResponses ? read_input(*body->root().get("input"))
                                                : read_messages_input(body->root());
    ASSERT_TRUE(again.ok()) << again.error().field << again.error().message;
    ASSERT_EQ(again->size(), 1U);
    std::string parts(message::parts_of(again->front()));
    // Messages has no detail: none is what chat takes for auto.
    if (wire == Wire::kMessages)
      parts.replace(parts.find("AAAA\"}}"), 7, R"(AAAA","detail":"auto"}})");
    EXPECT_EQ(parts, message::parts_of(conversation.messages[0]));
    EXPECT_EQ(again->front().text, "look");
  }
}

TEST(ContentParts, that_are_malformed_are_refused_over_every_protocol) {
  for (const auto* part : {"5", R"({"text":"no type"})", R"({"type":1})", R"({"type":"text"})"}) {
    const auto request = read_chat_request("{\"messages\":[" + from_user(part) + "]}",
                                           {.unserved = Unserved::kKeep});
    ASSERT_FALSE(request.ok()) << part;
    EXPECT_TRUE(request.error().field.starts_with("messages[0].content[0]"))
        << request.error().field;
  }
  for (const auto* part :
       {R"({"type":"image_url"})", R"({"type":"image_url","image_url":"http://x"})",
        R"({"type":"image_url","image_url":{}})", R"({"type":"image_url","image_url":{"url":5}})",
        R"({"type":"file","file":{}})"}) {
    const auto conversation = conversation_of(from_user(part));
    for (const Wire wire : {Wire::kResponses, Wire::kMessages}) {
      const auto status = check_conversation(wire, conversation);
      ASSERT_FALSE(status.ok()) << part;
      EXPECT_TRUE(status.error().field.starts_with("messages[0].content[0]."))
          << status.error().field;
    }
  }
}

TEST(DataUrls, are_told_from_others) {
  const auto plain = read_data_url("data:text/plain;charset=utf-8;base64,QQ==");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->media_type, "text/plain");
  EXPECT_EQ(plain->data, "QQ==");
  for (const char* other :
       {"", "data:", "data:image/png,AAAA", "data:image/png;base64", "http://x,"})
    EXPECT_FALSE(read_data_url(other)) << other;
}

}  // namespace
}  // namespace verbatim::protocol
