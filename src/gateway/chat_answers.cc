#include "gateway/chat_answers.h"

#include <iterator>

#include "net/sse.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

namespace {

// Logprobs as the client reads them: ids spelled out.
std::vector<protocol::TokenLogprob> spell_logprobs(const tokenizer::Tokenizer& tokenizer,
                                                   const engine::TokenChunk& chunk) {
  std::vector<protocol::TokenLogprob> list;
  list.reserve(chunk.ids.size());
  for (std::size_t i = 0; i < chunk.ids.size(); ++i) {
    protocol::TokenLogprob entry{std::string(tokenizer.bytes(chunk.ids[i])), chunk.logprobs[i], {}};
    if (i < chunk.top_logprobs.size()) {
      for (const auto& other : chunk.top_logprobs[i])
        entry.top.push_back({std::string(tokenizer.bytes(other.id)), other.logprob});
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

message::Usage usage_of(const trajectory::Turn& turn) {
  if (!turn.token_exact) return turn.usage.value_or(message::Usage{});
  return {turn.row_size - turn.completion.size(), turn.completion.size(), turn.cached_tokens};
}

message::Usage usage_of(std::span<const trajectory::TurnPtr> turns) {
  auto usage = usage_of(*turns.front());
  for (const auto& turn : turns.subspan(1))
    usage.completion_tokens += usage_of(*turn).completion_tokens;
  return usage;
}

Task<Status> WholeAnswer::on_chunk(std::span<const message::Event>,
                                   const engine::TokenChunk& chunk) {
  if (wanted_) {
    auto more = spell_logprobs(model_.renderer->tokenizer(), chunk);
    logprobs.insert(logprobs.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  co_return Status();
}

WholeAnswers::WholeAnswers(const Model& model, const protocol::ChatRequest& request)
    : wanted_(request.sampling.logprobs) {
  for (unsigned i = 0; i < request.choices; ++i) choices_.emplace_back(model, wanted_);
}

std::string WholeAnswers::body(const protocol::ChatHead& head,
                               std::span<const trajectory::TurnPtr> turns) {
  std::vector<protocol::ChatAnswer> answers(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    auto& answer = answers[i];
    answer.message = turns[i]->answer;
    answer.finish = turns[i]->finish;
    answer.logprobs = std::move(choices_[i].logprobs);
    answer.with_logprobs = wanted_;
  }
  answers.front().usage = usage_of(turns);
  return protocol::write_chat_answer(head, answers);
}

StreamedAnswer::StreamedAnswer(base::Runtime& runtime, net::Responder& responder,
                               const Model& model, const protocol::ChatHead& head,
                               const protocol::ChatRequest& request, const net::Headers& headers)
    : runtime_(runtime),
      responder_(responder),
      model_(model),
      wanted_(request.sampling.logprobs),
      headers_(headers),
      writing_(runtime.executor) {
  for (std::uint32_t i = 0; i < request.choices; ++i) {
    choices_.emplace_back(*this, protocol::ChatStreamEmitter(
                                     head, {request.include_usage, request.sampling.logprobs, i}));
  }
}

Task<Status> StreamedAnswer::show(protocol::ChatStreamEmitter& emitter,
                                  std::span<const message::Event> events,
                                  const engine::TokenChunk& chunk) {
  const auto pass = co_await writing_.enter();
  silence_.cancel();
  if (auto status = begin(); !status.ok()) co_return status;
  std::vector<protocol::TokenLogprob> tokens;
  if (wanted_) tokens = spell_logprobs(model_.renderer->tokenizer(), chunk);
  emitter.events(events, tokens, payloads_);
  frame();
  if (!frames_.empty()) {
    if (auto status = co_await responder_.write(frames_); !status.ok()) co_return status;
  }
  arm();
  co_return Status();
}

Task<Status> StreamedAnswer::finish(std::span<const trajectory::TurnPtr> turns) {
  const auto pass = co_await writing_.enter();
  silence_.cancel();
  if (auto status = begin(); !status.ok()) co_return status;
  for (std::size_t i = 0; i < turns.size(); ++i)
    choices_[i].emitter.finish(turns[i]->finish, payloads_);
  choices_.front().emitter.end(usage_of(turns), payloads_);
  frame();
  co_return co_await responder_.end(frames_);
}

Task<Status> StreamedAnswer::fail(const base::Error& error) {
  const auto pass = co_await writing_.enter();
  silence_.cancel();
  choices_.front().emitter.fail(error, payloads_);
  frame();
  co_return co_await responder_.end(frames_);
}

bool StreamedAnswer::over() {
  silence_.cancel();
  return begun_;
}

Status StreamedAnswer::begin() {
  if (begun_) return {};
  begun_ = true;
  return responder_.begin_stream(200, headers_);
}

void StreamedAnswer::frame() {
  frames_.clear();
  for (const auto& payload : payloads_) net::append_sse_data(frames_, payload);
  payloads_.clear();
}

void StreamedAnswer::arm() {
  silence_.arm(runtime_.executor.timers(), runtime_.clock().now() + kKeepAlive,
               [this] { base::spawn(ping()); });
}

// A comment that can't be written is nobody's loss: the connection is gone, and the turn's signal
// fires for that.
Task<void> StreamedAnswer::ping() {
  const auto pass = co_await writing_.enter();
  if (!begin().ok()) co_return;
  frames_.clear();
  net::append_sse_comment(frames_, "keep-alive");
  const auto status = co_await responder_.write(frames_);
  if (status.ok()) arm();
}

}  // namespace verbatim::gateway
