#include "gateway/conversation_bodies.h"

#include <algorithm>
#include <unordered_set>

#include "gateway/doors.h"
#include "gateway/exchange.h"
#include "gateway/query.h"
#include "gateway/response_items.h"
#include "json/value.h"
#include "json/writer.h"
#include "protocol/responses_input.h"
#include "protocol/responses_request.h"
#include "protocol/typed.h"

namespace verbatim::gateway {

using base::Result;
using base::Status;

namespace {

constexpr std::size_t kMaxPairs = 16;
constexpr std::size_t kMaxKey = 64;
constexpr std::size_t kMaxValue = 512;

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

Status check_length(std::string_view text, std::size_t limit, const std::string& field,
                    const std::string& what) {
  const std::size_t found = characters(text);
  if (found <= limit) return {};
  return base::invalid(field, "expected " + what + " of at most " + std::to_string(limit) +
                                  " characters, found " + std::to_string(found));
}

// Null is as good as none.
Result<std::string> read_metadata(const json::Value& value) {
  const std::string field = "metadata";
  if (value.is_null()) return std::string("{}");
  if (!value.is_object()) return protocol::mismatch(field, "an object of strings", value);
  if (value.size() > kMaxPairs)
    return base::invalid(field, "expected at most " + std::to_string(kMaxPairs) + " pairs, found " +
                                    std::to_string(value.size()));
  json::Writer w;
  w.begin_object();
  for (const auto& member : value) {
    const std::string name = member.name();
    if (auto s = check_length(name, kMaxKey, field, "keys"); !s.ok()) return std::move(s).error();
    if (!protocol::is_last(value, name, member.value)) continue;
    const std::string path = std::string(field).append(".").append(name);
    auto text = protocol::read_string(member.value, path);
    if (!text) return std::move(text).error();
    if (auto s = check_length(*text, kMaxValue, path, "a text"); !s.ok())
      return std::move(s).error();
    w.key(name).raw(member.value.raw());
  }
  w.end_object();
  return w.take();
}

// An error of items read as `input`, under the name they have here.
base::Error of_items(base::Error error) {
  constexpr std::string_view kInput = "input";
  if (error.field.starts_with(kInput)) error.field.replace(0, kInput.size(), "items");
  return error;
}

Status read_items(const json::Value& value, ConversationCall call, const Model& model,
                  base::Random& random, ConversationBody& into) {
  const std::string field = "items";
  if (!value.is_array()) return protocol::mismatch(field, "an array of items", value);
  const bool none = value.empty();
  if (value.size() > kMaxItemsAtOnce || (none && call == ConversationCall::kAddItems))
    return base::invalid(field, "expected 1 to " + std::to_string(kMaxItemsAtOnce) +
                                    " items at a time, found " + std::to_string(value.size()));
  if (none) return {};
  auto rules = protocol::input_rules(reading(model).unserved);
  rules.tools = false;  // they hold for requests
  if (const auto read = protocol::read_input(value, rules); !read) return of_items(read.error());
  std::vector<std::string> items;
  for (const auto& item : value) items.emplace_back(item.value.raw());
  if (const auto ids = read_item_ids(items, field); !ids) return ids.error();
  for (const auto& item : items) into.items.push_back(stored_item(item, random));
  return {};
}

base::Error unknown(const std::string& name, ConversationCall call) {
  const std::string allowed = call == ConversationCall::kCreate   ? "items, metadata"
                              : call == ConversationCall::kUpdate ? "metadata"
                                                                  : "items";
  return base::invalid(name.substr(0, kMaxShown), "unknown parameter; allowed: " + allowed);
}

}  // namespace

Result<ConversationBody> read_conversation_body(const std::string& body, ConversationCall call,
                                                const Model& model, base::Random& random) {
  // A conversation can be begun without a word.
  const bool silent = body.empty() && call == ConversationCall::kCreate;
  const auto document = json::Document::parse(silent ? "{}" : body);
  if (!document) return document.error();
  const auto root = document->root();
  if (!root.is_object()) return protocol::mismatch("", "the body to be an object", root);
  if (root.size() > protocol::kMaxMembers)
    return protocol::too_many_members("", protocol::kMaxMembers);
  ConversationBody read;
  bool items = false;
  for (const auto& member : root) {
    const std::string name = member.name();
    const auto& value = member.value;
    const bool knows_metadata = call != ConversationCall::kAddItems;
    const bool knows_items = call != ConversationCall::kUpdate;
    if (!(name == "metadata" && knows_metadata) && !(name == "items" && knows_items))
      return unknown(name, call);
    if (!protocol::is_last(root, name, value)) continue;
    if (name == "metadata") {
      auto metadata = read_metadata(value);
      if (!metadata) return std::move(metadata).error();
      read.metadata = std::move(*metadata);
    } else if (!value.is_null()) {
      items = true;
      if (auto s = read_items(value, call, model, random, read); !s.ok())
        return std::move(s).error();
    }
  }
  if (call == ConversationCall::kAddItems && !items)
    return base::invalid("items", "missing; expected an array of items");
  if (call == ConversationCall::kUpdate && !read.metadata)
    return base::invalid("metadata", "missing; expected an object of strings");
  return read;
}

Result<std::vector<std::string>> read_item_ids(const std::vector<std::string>& items,
                                               const std::string& field) {
  std::vector<std::string> ids;
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto item = json::Document::parse(items[i]);
    const auto id = item ? item->root().get("id") : std::nullopt;
    if (!id) continue;
    const std::string path = protocol::at(field, i) + ".id";
    auto text = protocol::read_string(*id, path);
    if (!text) return std::move(text).error();
    if (!is_session_name(*text)) {
      auto failure = base::invalid(path,
                                   "expected an id of 1 to 200 characters out of A-Z a-z 0-9 . _ : "
                                   "~ @ + = -, by which the item can be asked for; leave it out to "
                                   "be given one");
      failure.code = "invalid_value";
      return failure;
    }
    if (!seen.insert(*text).second) {
      auto failure = base::invalid(field, "the id " + *text + " comes twice; leave it out");
      failure.code = "item_already_in_conversation";
      return failure;
    }
    ids.push_back(std::move(*text));
  }
  return ids;
}

Status check_room(const store::Conversation& conversation, std::uint64_t items,
                  std::uint64_t bytes) {
  const bool full = conversation.items + items > kMaxConversationItems ||
                    conversation.bytes + bytes > kMaxConversationBytes;
  if (!full) return {};
  auto failure =
      base::invalid("conversation", "it has " + std::to_string(conversation.items) + " items of " +
                                        std::to_string(conversation.bytes) +
                                        " bytes, and with what is added it would have more than " +
                                        std::to_string(kMaxConversationItems) + " items or " +
                                        std::to_string(kMaxConversationBytes) +
                                        " bytes: begin another one, or delete items");
  failure.code = "conversation_full";
  return failure;
}

}  // namespace verbatim::gateway
