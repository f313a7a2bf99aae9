#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/message.h"
#include "protocol/chat_request.h"
#include "protocol/conversation.h"
#include "protocol/responses_input.h"
#include "protocol/responses_tools.h"

namespace verbatim::protocol {

// A request to POST /v1/responses, read and checked. Values own their bytes.
struct ResponsesRequest {
  // What `input` adds, as messages; each may hold its items as they came (kItems).
  std::vector<message::Message> messages;
  std::vector<std::string> items;           // of `input`, raw; a string is one of a user
  std::optional<std::string> instructions;  // of this request alone
  std::string previous_response_id;         // empty: none
  std::string conversation;                 // its id; empty: in none
  ResponsesTools tools;
  bool store = true;
  bool seal_reasoning = false;  // `include` asks for reasoning.encrypted_content
  // The rest, as chat names it: a chat request's body without messages and tools.
  std::string chat;
  // Members of the response object that repeat the request: name and raw JSON, as the caller wrote
  // them.
  std::vector<RawMember> echo;
};

// Reads a request body. Format: OpenAI API reference, "Create a model response". null counts as
// absent; of equal names the last counts. With Unserved::kRefuse, items and parts that a prompt has
// no place for are errors. Errors name the field: kInvalidRequest, kUnsupported, kTooLarge.
base::Result<ResponsesRequest> read_responses_request(const json::Value& body, Unserved unserved);

// `tool_choice` in chat's words.
void write_chat_choice(json::Writer& w, const json::Value& value);

// What is taken of items, here and where they are kept for a request.
InputRules input_rules(Unserved unserved);

// An error of the chat request that stands for this one, under the name that the field has here.
base::Error in_responses_words(base::Error error);

}  // namespace verbatim::protocol
