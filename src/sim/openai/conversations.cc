#include "sim/openai/conversations.h"

#include <array>
#include <utility>

#include "sim/openai/answer.h"

namespace verbatim::sim::openai {

using base::Task;
using protocol::Wire;

std::optional<Wire> wire_at(std::string_view path, const SimOptions& options) {
  static constexpr std::array<std::pair<std::string_view, Wire>, 3> kRoutes{
      {{"/v1/chat/completions", Wire::kChat},
       {"/v1/responses", Wire::kResponses},
       {"/v1/messages", Wire::kMessages}}};
  for (const auto& [known, wire] : kRoutes) {
    if (known == path && (wire == Wire::kChat || options.message_routes)) return wire;
  }
  return std::nullopt;
}

Task<void> converse(SimEngine::Impl& engine, Wire wire, const Dialect& dialect,
                    const net::Request& request, net::Responder& answer, base::CancelSignal& gone) {
  ++engine.stats.requests;
  const auto& options = engine.options;
  auto read = read_request(wire, request.body, options, dialect.echo);
  if (!read.ok()) {
    ++engine.stats.refused;
    const auto& error = read.error();
    const int status = error.kind == base::ErrorKind::kNotFound ? 404 : 400;
    const std::string field = error.field.empty() ? "" : error.field + ": ";
    const std::string body = dialect.refusal(wire, status, field + error.message);
    (void)co_await answer.send(status, "application/json", body);
    co_return;
  }
  GenerateCall& call = read->call;
  call.rid = engine.hex(32);
  const Plan plan = engine.plan(call);
  Heading heading;
  heading.id = engine.hex(dialect.digits);
  heading.model = options.model;
  heading.created = engine.unix_time();
  heading.prompt_tokens = call.prompt.size();
  heading.include_usage = read->include_usage;
  heading.stream = call.stream;
  heading.echo = std::move(read->echo);
  heading.draw = [&engine, &dialect] { return engine.hex(dialect.digits); };
  TalkAnswer content(Spelling(*options.tokenizer, call, plan.done, options.vocab_size), *read,
                     *options.tokenizer, heading, dialect);
  co_await engine.answer(call, plan, content, answer, gone);
}

}  // namespace verbatim::sim::openai
