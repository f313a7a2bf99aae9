#include "protocol/chat_request.h"

#include <algorithm>
#include <array>

#include "protocol/chat_messages.h"
#include "protocol/chat_parameters.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

// Rules between parameters.
base::Status check(const ChatRequest& request) {
  if (request.sampling.top_logprobs > 0 && !request.sampling.logprobs) {
    return base::invalid("top_logprobs", "needs logprobs: true");
  }
  return {};
}

// These have their place in ChatRequest, or none on the way up.
bool goes_up(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kPlaced = {
      "model", "tools", "stream", "stream_options", "n", "logprobs", "top_logprobs"};
  return std::find(kPlaced.begin(), kPlaced.end(), name) == kPlaced.end();
}

base::Status read_parameter(std::string_view name, const json::Value& value, Unserved unserved,
                            ChatRequest& request) {
  auto status = read_chat_parameter(name, value, request);
  if (unserved == Unserved::kRefuse || !goes_up(name)) return status;
  if (!status.ok() && status.error().kind != base::ErrorKind::kUnsupported) return status;
  request.parameters.emplace_back(name, value.raw());
  return {};
}

}  // namespace

base::Result<ChatRequest> read_chat_request(const json::Value& body,
                                            const ChatReadOptions& options) {
  if (!body.is_object()) return mismatch("", "the body to be an object", body);
  if (body.size() > kMaxMembers) return too_many_members("", kMaxMembers);
  const auto messages = body.get("messages");
  if (!messages) return base::invalid("messages", "missing; expected an array of messages");
  const Parts parts = options.unserved == Unserved::kKeep ? Parts::kKept : Parts::kRefused;
  auto read = read_chat_messages(*messages, options.part_separator, parts);
  if (!read) return std::move(read).error();
  auto request = read_chat_parameters(body, options);
  if (request) request->messages = std::move(*read);
  return request;
}

base::Result<ChatRequest> read_chat_parameters(const json::Value& body,
                                               const ChatReadOptions& options) {
  ChatRequest request;
  for (const auto& member : body) {
    const std::string name = member.name();
    if (member.value.is_null() || name == "messages" || !is_last(body, name, member.value))
      continue;
    if (auto status = read_parameter(name, member.value, options.unserved, request); !status) {
      return std::move(status).error();
    }
  }
  if (auto status = check(request); !status) return std::move(status).error();
  return request;
}

base::Result<ChatRequest> read_chat_request(std::string body, const ChatReadOptions& options) {
  auto document = json::Document::parse(std::move(body));
  if (!document) return std::move(document).error();
  return read_chat_request(document->root(), options);
}

}  // namespace verbatim::protocol
