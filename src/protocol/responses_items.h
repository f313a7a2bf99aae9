#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "json/value.h"
#include "json/writer.h"
#include "message/message.h"
#include "protocol/conversation.h"

namespace verbatim::protocol {

// Items of the Responses protocol and messages, both ways. Format: OpenAI API reference,
// "Responses". Pure.

// A message as items: an assistant's reasoning, text and calls are one each. Items that a server
// said (kItems) go as it said them, without members that are null.
void write_items(json::Writer& w, const message::Message& message);

// What an item of an answer is to a turn.
enum class ItemKind { kMessage, kReasoning, kCall, kOther };
struct Item {
  ItemKind kind = ItemKind::kOther;
  std::string text;  // of a message or reasoning: its parts joined; of a call: arguments
  std::string name;  // of a call
  std::string call_id;
  std::string id;  // of the item; empty: it has none
};
// Errors (kEngine) begin with `field`. Reasoning that is only encrypted or a summary: the summary.
base::Result<Item> read_item(const json::Value& item, const std::string& field);

// Contents have no part without a word in the protocol, no parameter is one that the gateway
// writes.
base::Status check_responses(const Conversation& conversation);
// The body of POST /v1/responses: the whole history as items, nothing stored, no previous response.
std::string write_responses_request(const Conversation& conversation, Silent functions);

}  // namespace verbatim::protocol
