#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/runtime.h"
#include "base/serial.h"
#include "base/timer.h"
#include "gateway/turn_runner.h"
#include "net/http_server.h"
#include "protocol/chat_answer.h"
#include "protocol/chat_request.h"
#include "protocol/chat_stream.h"

namespace verbatim::gateway {

// So long a stream may be silent before the client is sent a sign of life (docs/design.md 6).
inline constexpr base::Duration kKeepAlive = std::chrono::seconds(10);

// Counts of ids; of a turn by messages, what the engine counted.
message::Usage usage_of(const trajectory::Turn& turn);
// Of the siblings of one answer: their prompt counts once.
message::Usage usage_of(std::span<const trajectory::TurnPtr> turns);

// Keeps what a choice of a whole answer shows beside the message.
class WholeAnswer final : public TurnObserver {
 public:
  WholeAnswer(const Model& model, bool wanted) : model_(model), wanted_(wanted) {}

  base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                    const engine::TokenChunk& chunk) override;

  std::vector<protocol::TokenLogprob> logprobs;

 private:
  const Model& model_;
  bool wanted_;
};

// The choices of a whole answer.
class WholeAnswers final : public TurnObserver {
 public:
  WholeAnswers(const Model& model, const protocol::ChatRequest& request);

  base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                    const engine::TokenChunk& chunk) override {
    return choices_.front().on_chunk(events, chunk);
  }
  TurnObserver& of_choice(std::uint32_t choice) override { return choices_[choice]; }

  // The body, once all turns are recorded.
  [[nodiscard]] std::string body(const protocol::ChatHead& head,
                                 std::span<const trajectory::TurnPtr> turns);

 private:
  bool wanted_;
  std::deque<WholeAnswer> choices_;
};

// Writes the turns of a request as server-sent events while it is sampled, one write per chunk of
// the engine. The 200 waits for the engine's first event, so that errors keep their status, but not
// longer than kKeepAlive behind the plan: then the stream begins with a comment, and every silence
// of that length gets another one. Life: within the handler of its request; run() of the turn, then
// finish(), or fail() where begun(). Executor's thread.
class StreamedAnswer final : public TurnObserver {
 public:
  StreamedAnswer(base::Runtime& runtime, net::Responder& responder, const Model& model,
                 const protocol::ChatHead& head, const protocol::ChatRequest& request,
                 const net::Headers& headers);

  void on_planned() override { arm(); }
  base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                    const engine::TokenChunk& chunk) override {
    return choices_.front().on_chunk(events, chunk);
  }
  TurnObserver& of_choice(std::uint32_t choice) override { return choices_[choice]; }

  base::Task<base::Status> finish(std::span<const trajectory::TurnPtr> turns);
  base::Task<base::Status> fail(const base::Error& error);

  // The turn is over: whether its end has to go into the stream. No comment is begun from here on.
  [[nodiscard]] bool over();

 private:
  // One choice of the answer.
  class Choice final : public TurnObserver {
   public:
    Choice(StreamedAnswer& answer, protocol::ChatStreamEmitter writer)
        : emitter(std::move(writer)), answer_(answer) {}
    base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                      const engine::TokenChunk& chunk) override {
      return answer_.show(emitter, events, chunk);
    }
    protocol::ChatStreamEmitter emitter;

   private:
    StreamedAnswer& answer_;
  };

  base::Task<base::Status> show(protocol::ChatStreamEmitter& emitter,
                                std::span<const message::Event> events,
                                const engine::TokenChunk& chunk);
  base::Status begin();
  void frame();
  void arm();
  base::Task<void> ping();

  base::Runtime& runtime_;
  net::Responder& responder_;
  const Model& model_;
  std::deque<Choice> choices_;
  bool wanted_;
  const net::Headers& headers_;
  bool begun_ = false;
  std::vector<std::string> payloads_;
  std::string frames_;
  // Chunks and comments take turns at the responder. The timer is armed only while nobody is in the
  // section: a comment never waits, so none is left behind when the answer ends.
  base::Serial writing_;
  base::Timer silence_;
};

}  // namespace verbatim::gateway
