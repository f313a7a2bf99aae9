#pragma once

#include <memory>
#include <string>

#include "base/runtime.h"
#include "engine/engine.h"

namespace verbatim::simulate {

// An engine client with a deliberate bug: it never tells the engine that a generation is not wanted
// any more, and reads on instead.
class DeafEngine final : public engine::Engine {
 public:
  DeafEngine(base::Executor& executor, std::unique_ptr<engine::Engine> inner)
      : executor_(executor), inner_(std::move(inner)) {}

  [[nodiscard]] std::string_view kind() const override { return inner_->kind(); }
  [[nodiscard]] std::string_view mode() const override { return inner_->mode(); }
  [[nodiscard]] bool matches_stop_strings() const override {
    return inner_->matches_stop_strings();
  }
  [[nodiscard]] bool reads_chat() const override { return inner_->reads_chat(); }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override {
    return inner_->check(sampling);
  }
  [[nodiscard]] engine::Path driven_by() const override { return inner_->driven_by(); }
  [[nodiscard]] base::Status check_messages(const protocol::Conversation& asked) const override {
    return inner_->check_messages(asked);
  }
  base::Task<base::Result<std::unique_ptr<engine::TokenStream>>> generate(
      engine::TokenRequest request) override;
  base::Task<base::Result<std::unique_ptr<engine::TokenStream>>> complete(
      engine::MessageRequest request) override;
  base::Task<base::Result<engine::Probe>> probe(base::MonoTime deadline) override {
    return inner_->probe(deadline);
  }
  base::Task<base::Status> ready(base::MonoTime deadline) override {
    return inner_->ready(deadline);
  }
  base::Task<void> stop() override;

  // What a stream that outlives its request needs of it.
  struct Kept {
    engine::TokenIds prompt;
    std::string chat;
  };
  // For its streams: reads to the end of one that was given up.
  void read_on(std::shared_ptr<Kept> kept, std::unique_ptr<engine::TokenStream> stream);

 private:
  base::Executor& executor_;
  std::unique_ptr<engine::Engine> inner_;
  std::size_t reading_on_ = 0;
};

}  // namespace verbatim::simulate
