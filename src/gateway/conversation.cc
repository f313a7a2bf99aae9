#include "gateway/conversation.h"

#include <algorithm>
#include <map>

namespace verbatim::gateway {
namespace {

using message::Message;

// The recorded ids of calls by those under which the client repeats them.
std::map<std::string, std::string> recorded_ids(std::span<const Message> recorded,
                                                std::span<const Message> sent) {
  std::map<std::string, std::string> ids;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    const auto& ours = recorded[i].tool_calls;
    const auto& theirs = sent[i].tool_calls;
    for (std::size_t call = 0; call < std::min(ours.size(), theirs.size()); ++call)
      ids[theirs[call].id] = ours[call].id;
  }
  return ids;
}

}  // namespace

std::optional<std::int64_t> seed_of(const message::Sampling& sampling, std::uint32_t choice) {
  if (!sampling.seed) return {};
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(*sampling.seed) + choice);
}

protocol::Conversation conversation_of(const TurnRequest& request, const Plan& plan,
                                       std::uint32_t choice) {
  protocol::Conversation conversation;
  conversation.model = plan.root->model;
  conversation.tools = request.tools;
  conversation.sampling = request.sampling;
  conversation.parameters = request.parameters;
  conversation.stream = request.stream;
  for (auto& [name, raw] : conversation.parameters) {
    if (name == "seed" && choice > 0) raw = std::to_string(*seed_of(request.sampling, choice));
  }
  auto& messages = conversation.messages;
  if (plan.parent) messages = trajectory::messages_of(plan.parent);
  const auto ids = recorded_ids(messages, request.messages);
  for (const auto& sent : std::span(request.messages).subspan(plan.suffix)) {
    Message message = sent;
    const auto known = ids.find(message.tool_call_id);
    if (known != ids.end()) message.tool_call_id = known->second;
    messages.push_back(std::move(message));
  }
  return conversation;
}

}  // namespace verbatim::gateway
