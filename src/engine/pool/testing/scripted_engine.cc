#include "engine/pool/testing/scripted_engine.h"

#include <utility>

#include "base/pause.h"
#include "base/timer.h"
#include "engine/upstream.h"

namespace verbatim::engine::pool::testing {

using base::error;
using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;

namespace {

base::Error refused() {
  return error(ErrorKind::kUnavailable, "Connection refused");
}

class ScriptedStream final : public TokenStream {
 public:
  ScriptedStream(base::Executor& executor, Fate fate, TokenEnd end,
                 std::shared_ptr<Journal> journal, base::CancelSignal* cancel)
      : executor_(executor),
        fate_(std::move(fate)),
        end_(std::move(end)),
        journal_(std::move(journal)) {
    ++journal_->running;
    if (cancel != nullptr) hook_.emplace(*cancel, [this] { abort(); });
  }
  ~ScriptedStream() override {
    abort();
    --journal_->running;
  }

  Task<Result<std::optional<TokenChunk>>> next() override {
    if (!std::exchange(begun_, true)) {
      TokenChunk chunk;
      chunk.ids = {7};
      chunk.logprobs = {-1};
      co_return std::optional<TokenChunk>(std::move(chunk));
    }
    base::Pause pause(executor_, fate_.between, stopped_);
    const bool whole = co_await pause;
    over_ = true;
    if (!whole) co_return error(ErrorKind::kCancelled, "aborted");
    if (fate_.failure) co_return *fate_.failure;
    co_return std::optional<TokenChunk>();
  }
  [[nodiscard]] const TokenEnd& end() const override { return end_; }
  Status cut() override {
    abort();
    return {};
  }
  void abort() override {
    if (std::exchange(over_, true)) return;
    ++journal_->aborts;
    stopped_.fire("aborted");
  }

 private:
  base::Executor& executor_;
  const Fate fate_;
  const TokenEnd end_;
  std::shared_ptr<Journal> journal_;
  base::CancelSignal stopped_;
  std::optional<base::CancelHook> hook_;
  bool begun_ = false;
  bool over_ = false;
};

}  // namespace

Status ScriptedEngine::check(const message::Sampling&) const {
  return refuses ? Status(*refuses) : Status();
}

Status ScriptedEngine::check_messages(const protocol::Conversation& asked) const {
  return check(asked.sampling);
}

Task<Result<std::unique_ptr<TokenStream>>> ScriptedEngine::generate(TokenRequest request) {
  return answer(Path::kTokens, std::move(request.request_id), request.cancel);
}

Task<Result<std::unique_ptr<TokenStream>>> ScriptedEngine::complete(MessageRequest request) {
  return answer(Path::kMessages, std::move(request.request_id), request.cancel);
}

Task<Result<std::unique_ptr<TokenStream>>> ScriptedEngine::answer(Path path, std::string request_id,
                                                                  base::CancelSignal* cancel) {
  if (path != by) co_return error(ErrorKind::kUnsupported, "driven the other way");
  if (down) co_return refused();
  journal_->asked.push_back(request_id);
  Fate fate;
  if (!fates.empty()) {
    fate = std::move(fates.front());
    fates.pop_front();
  }
  const bool unsampled =
      fate.refusal && fate.refusal->upstream && refused_unsampled(*fate.refusal->upstream);
  if (!unsampled) journal_->begun.push_back(request_id);
  base::CancelSignal nobody;
  base::Pause pause(runtime_.executor, fate.before, cancel != nullptr ? *cancel : nobody);
  const bool whole = co_await pause;
  if (!whole) co_return error(ErrorKind::kCancelled, "the request was given up");
  if (fate.refusal) co_return *fate.refusal;
  TokenEnd end;
  end.engine_url = url_;
  end.weight_versions.push_back({says.weight_version, 0});
  co_return std::unique_ptr<TokenStream>(std::make_unique<ScriptedStream>(
      runtime_.executor, std::move(fate), std::move(end), journal_, cancel));
}

Task<Result<Probe>> ScriptedEngine::probe(base::MonoTime) {
  co_await base::sleep_for(runtime_.executor, probe_takes);
  if (down) co_return refused();
  co_return says;
}

Task<Status> ScriptedEngine::ready(base::MonoTime) {
  journal_->checks.push_back(runtime_.clock().now());
  if (down) co_return refused();
  if (check_fails) co_return *check_fails;
  if (sick) co_return error(ErrorKind::kUnavailable, "found status 503, expected 200");
  co_return Status();
}

Task<Status> ScriptedEngine::samples(base::MonoTime deadline) {
  ++journal_->tokens_asked;
  return ready(deadline);
}

Task<void> ScriptedEngine::stop() {
  journal_->stopped = true;
  co_return;
}

}  // namespace verbatim::engine::pool::testing
