#include "protocol/chat_request.h"

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

}  // namespace

base::Result<ChatRequest> read_chat_request(const json::Value& body,
                                            const ChatReadOptions& options) {
  if (!body.is_object()) return mismatch("", "the body to be an object", body);
  if (body.size() > kMaxMembers) return too_many_members("", kMaxMembers);
  ChatRequest request;
  const auto messages = body.get("messages");
  if (!messages) return base::invalid("messages", "missing; expected an array of messages");
  auto read = read_chat_messages(*messages, options.part_separator);
  if (!read) return std::move(read).error();
  request.messages = std::move(*read);
  for (const auto& member : body) {
    const std::string name = member.name();
    if (member.value.is_null() || name == "messages" || !is_last(body, name, member.value))
      continue;
    if (auto status = read_chat_parameter(name, member.value, request); !status) {
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
