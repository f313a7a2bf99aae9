#include "engine/messages/engine.h"

#include <utility>

#include "base/random.h"
#include "engine/answer_stream.h"
#include "engine/fields.h"
#include "engine/messages/reader.h"
#include "protocol/typed.h"

namespace verbatim::engine::messages {

using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

namespace {

constexpr std::string_view kPriority = "priority";

// Higher is sooner for clients.
protocol::Conversation with_low_priority(protocol::Conversation conversation) {
  for (auto& [name, raw] : conversation.parameters) {
    if (name == kPriority) raw = std::to_string(-conversation.sampling.priority);
  }
  return conversation;
}

// What is asked to see whether a token is made.
protocol::Conversation tiny_conversation(std::string model) {
  constexpr std::uint64_t kTokens = 16;  // the fewest that a Responses server takes
  protocol::Conversation tiny;
  tiny.model = std::move(model);
  tiny.messages = {{.role = message::Role::kUser, .text = "ready?"}};
  tiny.sampling.max_tokens = kTokens;
  tiny.parameters = {{"max_tokens", std::to_string(kTokens)}};
  return tiny;
}

}  // namespace

MessageEngine::MessageEngine(base::Runtime& runtime, const Options& options)
    : runtime_(runtime),
      peer_(runtime, options),
      kind_(options.kind),
      mode_(options.mode),
      context_(options.context),
      low_is_soon_(options.low_is_soon),
      functions_(options.functions),
      model_(options.model),
      may_cost_(options.may_cost) {}

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

std::string MessageEngine::body_of(const protocol::Conversation& asked) const {
  if (low_is_soon_ && asked.sampling.priority != 0)
    return protocol::write_conversation(mode_.wire, with_low_priority(asked), functions_);
  return protocol::write_conversation(mode_.wire, asked, functions_);
}

Task<Result<std::unique_ptr<TokenStream>>> MessageEngine::complete(MessageRequest request) {
  if (request.cancel != nullptr && request.cancel->fired())
    co_return base::error(ErrorKind::kCancelled, "the request was given up");
  const std::string body = body_of(*request.conversation);
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

Task<Result<Probe>> MessageEngine::probe(MonoTime deadline) {
  Probe probe;
  auto models = co_await peer_.get_json("/v1/models", deadline);
  if (!models.ok()) co_return std::move(models).error();
  if (*models) probe.models = read_models((*models)->root(), context_);
  co_return probe;
}

Task<Result<std::string>> MessageEngine::listed_model(MonoTime deadline) {
  auto found = co_await probe(deadline);
  if (!found.ok()) co_return std::move(found).error();
  if (found->models.empty())
    co_return base::error(ErrorKind::kUnavailable, "the engine lists no model");
  if (!model_.empty()) co_return model_;
  co_return std::move(found->models.front().id);
}

Task<Status> MessageEngine::ready(MonoTime deadline) {
  if (!may_cost_) co_return co_await samples(deadline);
  auto model = co_await listed_model(deadline);
  if (!model.ok()) co_return std::move(model).error();
  co_return Status();
}

Task<Status> MessageEngine::samples(MonoTime deadline) {
  auto model = co_await listed_model(deadline);
  if (!model.ok()) co_return std::move(model).error();
  const auto tiny = tiny_conversation(std::move(*model));
  MessageRequest request;
  request.request_id = base::new_hex_id(runtime_.random);
  request.conversation = &tiny;
  request.deadline = deadline;
  auto stream = co_await complete(std::move(request));
  if (!stream.ok()) co_return std::move(stream).error();
  for (;;) {
    auto chunk = co_await (*stream)->next();
    if (!chunk.ok()) co_return std::move(chunk).error();
    if (!*chunk) co_return Status();
  }
}

}  // namespace verbatim::engine::messages
