#include "cli/demo_rerender.h"

#include <algorithm>
#include <span>

#include "protocol/chat_request.h"

namespace verbatim::cli {
namespace {

using base::Result;
using base::TokenId;
using base::TokenIds;

struct Fresh {
  protocol::ChatRequest request;
  chat::Rendered rendered;
};

Result<Fresh> render_fresh(const chat::Renderer& renderer, const std::string& body) {
  auto request = protocol::read_chat_request(body);
  if (!request) return std::move(request).error();
  if (auto status = chat::normalise(request->messages, renderer.family()); !status.ok())
    return std::move(status).error();
  chat::TemplateInputs inputs;
  inputs.tools = request->tools;
  auto rendered = renderer.full(request->messages, inputs);
  if (!rendered) return std::move(rendered).error();
  return Fresh{std::move(*request), std::move(*rendered)};
}

std::size_t common_prefix(const TokenIds& a, const TokenIds& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(at - a.begin());
}

// The ids that the template puts before an answer.
std::span<const TokenId> opener_of(const chat::Rendered& rendered) {
  std::size_t count = 0;
  for (const auto& span : rendered.spans)
    count += span.source == message::SpanSource::kOpener ? span.count : 0;
  return std::span(rendered.ids).last(count);
}

// Ids of message `number` of a rendering, what the template puts around it included.
TokenIds ids_of(const chat::Rendered& rendered, std::size_t number) {
  TokenIds ids;
  auto at = rendered.ids.begin();
  for (const auto& span : rendered.spans) {
    if (span.message == number) ids.insert(ids.end(), at, at + span.count);
    at += span.count;
  }
  return ids;
}

// Ids of each assistant message of a rendering, from behind its opener to its close token.
std::vector<TokenIds> answers_of(const Fresh& fresh) {
  const auto opener = opener_of(fresh.rendered);
  std::vector<TokenIds> answers;
  for (std::size_t i = 0; i < fresh.request.messages.size(); ++i) {
    if (fresh.request.messages[i].role != message::Role::kAssistant) continue;
    const TokenIds ids = ids_of(fresh.rendered, i);
    const auto at = std::search(ids.begin(), ids.end(), opener.begin(), opener.end());
    const auto length = static_cast<std::ptrdiff_t>(opener.size());
    answers.emplace_back(at == ids.end() ? ids.begin() : at + length, ids.end());
  }
  return answers;
}

std::string between(const std::string& text, std::string_view open, std::string_view close) {
  const auto begin = text.find(open);
  if (begin == std::string::npos) return {};
  const auto end = text.find(close, begin);
  return text.substr(begin, end == std::string::npos ? end : end - begin);
}

AnswerLoss compare(const tokenizer::Tokenizer& tokenizer, const TokenIds& sampled,
                   const TokenIds& rendered) {
  const std::string before = tokenizer.decode(sampled);
  const std::string after = tokenizer.decode(rendered);
  AnswerLoss loss;
  loss.sampled = sampled.size();
  loss.kept = common_prefix(sampled, rendered);
  const auto differs =
      std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
  const std::string kept = tokenizer.decode(std::span(sampled).first(loss.kept));
  loss.other_ids = static_cast<std::size_t>(differs - before.begin()) > kept.size();
  loss.lost_reasoning = !between(before, "<think>", "</think>").empty() &&
                        between(after, "<think>", "</think>").empty();
  loss.changed_arguments = between(before, "<tool_call>", "</tool_call>") !=
                           between(after, "<tool_call>", "</tool_call>");
  return loss;
}

}  // namespace

Result<Rerender> rerender(const chat::Renderer& renderer, const std::string& request_body,
                          const TokenIds& recorded) {
  auto fresh = render_fresh(renderer, request_body);
  if (!fresh) return std::move(fresh).error();
  const std::size_t same = common_prefix(recorded, fresh->rendered.ids);
  return Rerender{recorded, std::move(fresh->rendered.ids), same};
}

Result<std::vector<AnswerLoss>> answer_losses(const chat::Renderer& renderer,
                                              const std::string& last_request_body,
                                              const std::vector<DemoTurn>& turns) {
  const auto fresh = render_fresh(renderer, last_request_body);
  if (!fresh) return fresh.error();
  const auto answers = answers_of(*fresh);
  std::vector<AnswerLoss> losses;
  for (std::size_t i = 0; i < answers.size() && i < turns.size(); ++i)
    losses.push_back(compare(renderer.tokenizer(), turns[i].turn.completion, answers[i]));
  return losses;
}

}  // namespace verbatim::cli
