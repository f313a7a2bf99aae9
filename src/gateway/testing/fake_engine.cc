#include "gateway/testing/fake_engine.h"

#include <coroutine>

#include "base/timer.h"
#include "chat/testing/toy_chat.h"

namespace verbatim::gateway::testing {

using base::error;
using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;
using engine::TokenChunk;
using engine::TokenStream;

namespace {

// co_await -> true when `signal` fired before the time was over.
class Pause {
 public:
  Pause(base::Executor& executor, base::Duration time, base::CancelSignal& signal)
      : executor_(executor), time_(time), signal_(signal) {}
  [[nodiscard]] bool await_ready() const { return time_.count() == 0 || signal_.fired(); }
  void await_suspend(std::coroutine_handle<> waiter) {
    if (time_ != kForever) {
      timer_.arm(executor_.timers(), executor_.clock().now() + time_,
                 [waiter] { waiter.resume(); });
    }
    hook_.emplace(signal_, [this, waiter] {
      timer_.cancel();
      executor_.post([waiter] { waiter.resume(); });
    });
  }
  [[nodiscard]] bool await_resume() const { return signal_.fired(); }

  static constexpr base::Duration kForever = base::Duration::max();

 private:
  base::Executor& executor_;
  base::Duration time_;
  base::CancelSignal& signal_;
  base::Timer timer_;
  std::optional<base::CancelHook> hook_;
};

class FakeStream final : public TokenStream {
 public:
  FakeStream(base::Executor& executor, FakeEngine& engine, EngineScript script,
             std::size_t prompt_tokens, base::CancelSignal* cancel)
      : executor_(executor), engine_(engine), script_(std::move(script)) {
    end_.finish = script_.finish;
    end_.prompt_tokens = prompt_tokens;
    end_.cached_tokens = script_.cached_tokens;
    end_.weight_versions = script_.weights;
    end_.exact_logprobs = script_.exact_logprobs;
    end_.skew = script_.skew;
    end_.engine_url = script_.engine_url;
    end_.engine_request_id = script_.engine_request_id;
    if (cancel != nullptr) client_.emplace(*cancel, [this, cancel] { stop(cancel->reason()); });
    ++engine_.running;
  }
  ~FakeStream() override {
    stop("dropped");
    --engine_.running;
  }

  Task<Result<std::optional<TokenChunk>>> next() override {
    if (stopped_.fired()) co_return error(ErrorKind::kCancelled, stopped_.reason());
    if (at_ == script_.steps.size()) {
      over_ = true;
      if (script_.at_end) script_.at_end();
      co_return std::optional<TokenChunk>();
    }
    const EngineStep& step = script_.steps[at_++];
    const auto silence = step.hang ? Pause::kForever : step.after;
    if (co_await Pause(executor_, silence, stopped_))
      co_return error(ErrorKind::kCancelled, stopped_.reason());
    if (step.error) {
      over_ = true;
      co_return *step.error;
    }
    TokenChunk chunk;
    chunk.ids = step.ids;
    chunk.logprobs = step.logprobs;
    if (chunk.logprobs.empty()) chunk.logprobs.assign(step.ids.size(), -0.5);
    chunk.top_logprobs = step.top_logprobs;
    chunk.parsed = step.parsed;
    end_.completion_tokens += chunk.ids.size();
    co_return std::optional<TokenChunk>(std::move(chunk));
  }
  [[nodiscard]] const engine::TokenEnd& end() const override { return end_; }
  void abort() override { stop("aborted"); }
  Status cut() override {
    over_ = over_ || at_ == script_.steps.size();  // the end came with the last chunk
    if (over_) return {};
    stop("cut");
    end_.finish = {engine::EngineFinish::Kind::kStop, "", {}, {}};
    end_.exact_logprobs.reset();
    return {};
  }

 private:
  void stop(const char* why) {
    if (over_ || stopped_.fired()) return;
    ++engine_.aborts;
    stopped_.fire(why);
  }

  base::Executor& executor_;
  FakeEngine& engine_;
  EngineScript script_;
  engine::TokenEnd end_;
  base::CancelSignal stopped_;
  std::optional<base::CancelHook> client_;
  std::size_t at_ = 0;
  bool over_ = false;
};

}  // namespace

EngineScript FakeEngine::says(engine::TokenIds ids) {
  EngineScript script;
  EngineStep step;
  step.ids = std::move(ids);
  script.steps.push_back(std::move(step));
  return script;
}

Status FakeEngine::check(const message::Sampling&) const {
  if (refuses) return *refuses;
  return {};
}

Task<Result<std::unique_ptr<TokenStream>>> FakeEngine::generate(engine::TokenRequest request) {
  EngineAsked told;
  for (const auto& piece : request.prompt)
    told.prompt.insert(told.prompt.end(), piece.begin(), piece.end());
  told.sampling = request.sampling;
  told.max_new_tokens = request.max_new_tokens;
  told.stop_token_ids = request.stop_token_ids;
  told.routing_key = request.routing_key;
  told.last_engine_url = request.last_engine_url;
  told.headers = request.headers;
  asked.push_back(std::move(told));
  EngineScript script =
      scripts.empty() ? says(chat::testing::encoded("ok<|im_end|>")) : scripts.front();
  if (!scripts.empty()) scripts.pop_front();

  base::CancelSignal nobody;
  base::CancelSignal& cancel = request.cancel != nullptr ? *request.cancel : nobody;
  const auto silence = script.hang ? Pause::kForever : script.first_after;
  if (cancel.fired() || co_await Pause(runtime_.executor, silence, cancel)) {
    ++aborts;
    co_return error(ErrorKind::kCancelled, cancel.reason());
  }
  if (script.refusal) co_return *script.refusal;
  const std::size_t prompt_size = request.prompt_size();
  co_return std::unique_ptr<TokenStream>(std::make_unique<FakeStream>(
      runtime_.executor, *this, std::move(script), prompt_size, request.cancel));
}

Task<Result<engine::Probe>> FakeEngine::probe(base::MonoTime) {
  ++probed;
  if (deaf) co_return base::error(base::ErrorKind::kUnavailable, "nobody answers");
  engine::Probe probe;
  probe.models.push_back({"toy", 4096});
  co_return std::move(probe);
}

Task<Status> FakeEngine::ready(base::MonoTime) {
  co_return Status();
}

Task<void> FakeEngine::stop() {
  co_return;
}

}  // namespace verbatim::gateway::testing
