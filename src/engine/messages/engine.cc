#include "engine/messages/engine.h"

#include <utility>

#include "engine/answer_stream.h"
#include "engine/fields.h"
#include "engine/messages/reader.h"
#include "protocol/typed.h"

namespace verbatim::engine::messages {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

namespace {

constexpr std::string_view kPriority = "priority";

}  // namespace

MessageEngine::MessageEngine(base::Runtime& runtime, const Options& options)
    : peer_(runtime, options),
      kind_(options.kind),
      mode_(options.mode),
      context_(options.context),
      low_is_soon_(options.low_is_soon) {}

Status MessageEngine::check(const message::Sampling& sampling) const {
  if (!sampling.logprobs) return {};
  return protocol::unsupported(
      "logprobs", "messages go up to this engine (mode " + std::string(mode_.name) +
                      "), so that tokens are not exact and have no logprobs; leave it out");
}

Status MessageEngine::check_messages(const protocol::Conversation& asked) const {
  if (auto status = check(asked.sampling); !status.ok()) return status;
  return protocol::check_conversation(mode_.wire, asked);
}

Task<Result<std::unique_ptr<TokenStream>>> MessageEngine::generate(TokenRequest /*request*/) {
  co_return base::error(
      ErrorKind::kUnsupported,
      "this engine is driven by messages (mode " + std::string(mode_.name) + "), not by token ids");
}

Task<Result<std::unique_ptr<TokenStream>>> MessageEngine::complete(MessageRequest request) {
  if (request.cancel != nullptr && request.cancel->fired())
    co_return base::error(ErrorKind::kCancelled, "the request was given up");
  auto& conversation = request.conversation;
  for (auto& [name, raw] : conversation.parameters) {
    // Higher is sooner for clients.
    if (name == kPriority && low_is_soon_) raw = std::to_string(-conversation.sampling.priority);
  }
  const std::string body = protocol::write_conversation(mode_.wire, conversation);
  HttpPeer::Sent sent;
  sent.headers = std::move(request.headers);
  if (mode_.wire == protocol::Wire::kMessages) {
    sent.headers.set("Anthropic-Version", "2023-06-01");
    if (!peer_.options().api_key.empty()) sent.headers.set("X-Api-Key", peer_.options().api_key);
  }
  sent.cancel = request.cancel;
  sent.deadline = request.deadline;
  auto response = co_await peer_.post(mode_.route, body, std::move(sent));
  if (!response.ok()) co_return std::move(response).error();
  AnswerStream::Setup setup;
  setup.reader = std::make_unique<Reader>(mode_.wire);
  setup.deadline = request.deadline;
  setup.cancel = request.cancel;
  auto stream = co_await start_stream(peer_, std::move(*response), std::move(setup));
  co_return std::move(stream);
}

Task<Result<Probe>> MessageEngine::probe(base::MonoTime deadline) {
  Probe probe;
  auto models = co_await peer_.get_json("/v1/models", deadline);
  if (!models.ok()) co_return std::move(models).error();
  if (*models) probe.models = read_models((*models)->root(), context_);
  co_return probe;
}

Task<Status> MessageEngine::ready(base::MonoTime deadline) {
  auto found = co_await probe(deadline);
  if (!found.ok()) co_return std::move(found).error();
  if (found->models.empty())
    co_return base::error(ErrorKind::kUnavailable, "the engine lists no model");
  co_return Status();
}

}  // namespace verbatim::engine::messages
