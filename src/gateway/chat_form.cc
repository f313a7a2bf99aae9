#include "gateway/chat_form.h"

#include <iterator>

#include "gateway/usage.h"
#include "net/sse.h"

namespace verbatim::gateway {

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

ChatForm::ChatForm(const Model& model, const protocol::ChatHead& head,
                   const protocol::ChatRequest& request)
    : model_(model), head_(head), stream_(request.stream), logprobs_(request.sampling.logprobs) {
  for (std::uint32_t i = 0; i < request.choices; ++i) {
    choices_.push_back({protocol::ChatStreamEmitter(head, {request.include_usage, logprobs_, i})});
  }
}

void ChatForm::show(std::uint32_t choice, std::span<const message::Event> events,
                    const engine::TokenChunk& chunk) {
  std::vector<protocol::TokenLogprob> tokens;
  if (logprobs_) tokens = spell_logprobs(model_.renderer->tokenizer(), chunk);
  if (!stream_) {
    auto& all = choices_[choice].logprobs;
    all.insert(all.end(), std::make_move_iterator(tokens.begin()),
               std::make_move_iterator(tokens.end()));
    return;
  }
  choices_[choice].emitter.events(events, tokens, payloads_);
  frame();
}

void ChatForm::finish(std::span<const trajectory::TurnPtr> turns) {
  for (std::size_t i = 0; i < turns.size(); ++i)
    choices_[i].emitter.finish(turns[i]->finish, payloads_);
  choices_.front().emitter.end(usage_of(turns), payloads_);
  frame();
}

void ChatForm::fail(const base::Error& error) {
  choices_.front().emitter.fail(error, payloads_);
  frame();
}

std::string ChatForm::whole(std::span<const trajectory::TurnPtr> turns) {
  std::vector<protocol::ChatAnswer> answers(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) {
    auto& answer = answers[i];
    answer.message = turns[i]->answer;
    answer.finish = turns[i]->finish;
    answer.logprobs = std::move(choices_[i].logprobs);
    answer.with_logprobs = logprobs_;
  }
  answers.front().usage = usage_of(turns);
  return protocol::write_chat_answer(head_, answers);
}

void ChatForm::frame() {
  for (const auto& payload : payloads_) net::append_sse_data(frames_, payload);
  payloads_.clear();
}

}  // namespace verbatim::gateway
