#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/runtime.h"
#include "engine/inspect.h"

namespace verbatim::engine {

// An engine that did not answer yet when it was chosen. The first probe() or ready() that reaches
// it finds out what it is (see inspect) and makes the engine that is driven
// from then on; until then generate() fails with kUnavailable. An engine that can't be driven as
// chosen is never driven: each probe() tells why. Life: see Engine.
class LateEngine final : public Engine {
 public:
  LateEngine(base::Runtime& runtime, Choice choice)
      : runtime_(runtime), choice_(std::move(choice)) {}

  [[nodiscard]] std::string_view kind() const override;
  [[nodiscard]] std::string_view mode() const override;
  [[nodiscard]] Path driven_by() const override { return path_of(choice_); }
  [[nodiscard]] bool matches_stop_strings() const override;
  [[nodiscard]] bool reads_chat() const override;
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  [[nodiscard]] base::Status check_messages(const protocol::Conversation& asked) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> complete(MessageRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<base::Status> samples(base::MonoTime deadline) override;
  base::Task<void> stop() override;

 private:
  [[nodiscard]] base::Error not_yet() const;
  base::Task<base::Status> find(base::MonoTime deadline);

  base::Runtime& runtime_;
  const Choice choice_;
  std::unique_ptr<Engine> found_;
  std::optional<Probe> found_probe_;  // until a probe() gives it out
};

}  // namespace verbatim::engine
