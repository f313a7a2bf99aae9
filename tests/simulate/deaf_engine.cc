#include "simulate/deaf_engine.h"

#include "base/task.h"
#include "base/timer.h"

namespace verbatim::simulate {

using base::Result;
using base::Task;
using engine::TokenStream;

namespace {

class DeafStream final : public TokenStream {
 public:
  DeafStream(DeafEngine& engine, std::shared_ptr<DeafEngine::Kept> kept,
             std::unique_ptr<TokenStream> inner)
      : engine_(engine), kept_(std::move(kept)), inner_(std::move(inner)) {}
  ~DeafStream() override {
    if (!over_) engine_.read_on(std::move(kept_), std::move(inner_));
  }
  Task<Result<std::optional<engine::TokenChunk>>> next() override {
    auto chunk = co_await inner_->next();
    over_ = !chunk || !*chunk;
    co_return chunk;
  }
  [[nodiscard]] const engine::TokenEnd& end() const override { return inner_->end(); }
  base::Status cut() override { return inner_->cut(); }
  void abort() override {}

 private:
  DeafEngine& engine_;
  std::shared_ptr<DeafEngine::Kept> kept_;
  std::unique_ptr<TokenStream> inner_;
  bool over_ = false;
};

}  // namespace

Task<Result<std::unique_ptr<TokenStream>>> DeafEngine::generate(engine::TokenRequest request) {
  auto kept = std::make_shared<Kept>();
  for (const auto& piece : request.prompt)
    kept->prompt.insert(kept->prompt.end(), piece.begin(), piece.end());
  kept->chat = request.chat;
  request.prompt.assign(1, kept->prompt);
  request.chat = kept->chat;
  request.cancel = nullptr;
  auto stream = co_await inner_->generate(std::move(request));
  if (!stream) co_return std::move(stream).error();
  co_return std::unique_ptr<TokenStream>(
      std::make_unique<DeafStream>(*this, std::move(kept), std::move(*stream)));
}

Task<Result<std::unique_ptr<TokenStream>>> DeafEngine::complete(engine::MessageRequest request) {
  request.cancel = nullptr;
  auto stream = co_await inner_->complete(std::move(request));
  if (!stream) co_return std::move(stream).error();
  co_return std::unique_ptr<TokenStream>(
      std::make_unique<DeafStream>(*this, nullptr, std::move(*stream)));
}

void DeafEngine::read_on(std::shared_ptr<DeafEngine::Kept> kept,
                         std::unique_ptr<TokenStream> stream) {
  ++reading_on_;
  base::spawn([](std::shared_ptr<Kept>, std::unique_ptr<TokenStream> given_up,
                 std::size_t& count) -> Task<void> {
    for (;;) {
      auto chunk = co_await given_up->next();
      if (!chunk || !*chunk) break;
    }
    given_up.reset();
    --count;
  }(std::move(kept), std::move(stream), reading_on_));
}

Task<void> DeafEngine::stop() {
  while (reading_on_ > 0) co_await base::sleep_for(executor_, std::chrono::milliseconds(100));
  co_await inner_->stop();
}

}  // namespace verbatim::simulate
