#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "engine/engine.h"

namespace verbatim::engine::pool::testing {

// What becomes of one request.
struct Fate {
  std::optional<base::Error> refusal;  // in place of a stream
  std::optional<base::Error> failure;  // behind the first chunk
  base::Duration before{0};            // the first chunk
  base::Duration between{0};           // the first chunk and the end
};

// What happened at a ScriptedEngine; outlives it.
struct Journal {
  std::vector<std::string> asked;      // request ids, as they were sent
  std::vector<std::string> begun;      // those that may have been sampled
  std::vector<base::MonoTime> checks;  // calls of ready() and samples()
  int tokens_asked = 0;                // calls of samples()
  int aborts = 0;
  int running = 0;
  bool stopped = false;
};

// An engine that does what a test says, one Fate per request; without one left it answers well.
class ScriptedEngine final : public Engine {
 public:
  ScriptedEngine(base::Runtime& runtime, std::string url, std::shared_ptr<Journal> journal)
      : runtime_(runtime), url_(std::move(url)), journal_(std::move(journal)) {
    says.models.push_back({"m", 4096});
    says.context_length = 4096;
    says.weight_version = "w";
  }

  std::deque<Fate> fates;
  bool down = false;  // nobody listens: every call fails, nothing is counted as asked
  bool sick = false;  // ready() fails, though the port is open
  std::optional<base::Error> check_fails;  // ready() fails with it
  Probe says;
  base::Duration probe_takes{0};
  std::optional<base::Error> refuses;  // check() fails with it
  std::string in_mode = "script";
  Path by = Path::kTokens;  // the other way is an error

  [[nodiscard]] std::string_view kind() const override { return "scripted"; }
  [[nodiscard]] std::string_view mode() const override { return in_mode; }
  [[nodiscard]] Path driven_by() const override { return by; }
  [[nodiscard]] base::Status check(const message::Sampling& sampling) const override;
  [[nodiscard]] base::Status check_messages(const protocol::Conversation& asked) const override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> generate(TokenRequest request) override;
  base::Task<base::Result<std::unique_ptr<TokenStream>>> complete(MessageRequest request) override;
  base::Task<base::Result<Probe>> probe(base::MonoTime deadline) override;
  base::Task<base::Status> ready(base::MonoTime deadline) override;
  base::Task<base::Status> samples(base::MonoTime deadline) override;
  base::Task<void> stop() override;

 private:
  base::Task<base::Result<std::unique_ptr<TokenStream>>> answer(Path path, std::string request_id,
                                                                base::CancelSignal* cancel);

  base::Runtime& runtime_;
  const std::string url_;
  std::shared_ptr<Journal> journal_;
};

}  // namespace verbatim::engine::pool::testing
