#pragma once

#include <deque>
#include <span>

#include "base/runtime.h"
#include "base/serial.h"
#include "base/timer.h"
#include "gateway/answer_form.h"
#include "gateway/turn_runner.h"
#include "net/http_server.h"

namespace verbatim::gateway {

// So long a stream may be silent before the client is sent a sign of life (docs/design.md 6).
inline constexpr base::Duration kKeepAlive = std::chrono::seconds(10);

// Shows the turns of a request to the form of its answer, each choice as what it is.
class ShownAnswer : public TurnObserver {
 public:
  ShownAnswer(AnswerForm& form, unsigned choices) : form_(form) {
    for (std::uint32_t i = 0; i < choices; ++i) choices_.emplace_back(*this, i);
  }

  base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                    const engine::TokenChunk& chunk) override {
    return show(0, events, chunk);
  }
  TurnObserver& of_choice(std::uint32_t choice) override { return choices_[choice]; }
  std::unique_ptr<store::StoredResponse> record(const trajectory::Turn& turn) override {
    return form_.record(turn);
  }
  std::unique_ptr<store::ConversationChange> advance(const trajectory::Turn& turn) override {
    return form_.advance(turn);
  }

 protected:
  virtual base::Task<base::Status> show(std::uint32_t choice,
                                        std::span<const message::Event> events,
                                        const engine::TokenChunk& chunk);
  AnswerForm& form_;

 private:
  class Choice final : public TurnObserver {
   public:
    Choice(ShownAnswer& answer, std::uint32_t number) : answer_(answer), number_(number) {}
    base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                      const engine::TokenChunk& chunk) override {
      return answer_.show(number_, events, chunk);
    }

   private:
    ShownAnswer& answer_;
    const std::uint32_t number_;
  };
  std::deque<Choice> choices_;
};

// Writes the turns of a request as server-sent events while it is sampled, one write per chunk of
// the engine. The 200 waits for the engine's first event, so that errors keep their status, but not
// longer than kKeepAlive behind the plan: then the stream begins with a comment, and every silence
// of that length gets another one. Life: within the handler of its request; run() of the turn, then
// finish(), or fail() where begun(). Executor's thread.
class StreamedAnswer final : public ShownAnswer {
 public:
  StreamedAnswer(base::Runtime& runtime, net::Responder& responder, AnswerForm& form,
                 unsigned choices, const net::Headers& headers);

  void on_planned() override { arm(); }
  base::Task<base::Status> finish(std::span<const trajectory::TurnPtr> turns);
  base::Task<base::Status> fail(const base::Error& error);

  // The turn is over: whether its end has to go into the stream. No comment is begun from here on.
  [[nodiscard]] bool over();

 private:
  base::Task<base::Status> show(std::uint32_t choice, std::span<const message::Event> events,
                                const engine::TokenChunk& chunk) override;
  base::Status begin();
  void arm();
  base::Task<void> ping();

  base::Runtime& runtime_;
  net::Responder& responder_;
  const net::Headers& headers_;
  bool begun_ = false;
  std::string frames_;
  // Chunks and comments take turns at the responder. The timer is armed only while nobody is in the
  // section: a comment never waits, so none is left behind when the answer ends.
  base::Serial writing_;
  base::Timer silence_;
};

}  // namespace verbatim::gateway
