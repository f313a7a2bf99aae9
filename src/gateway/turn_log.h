#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/executor.h"
#include "gateway/answer_form.h"
#include "gateway/turn_runner.h"
#include "protocol/chat_answer.h"

namespace verbatim::gateway {

// What the turns of one request brought, in order, for everybody who waits for them: the client
// that asked, and those that ask the same again. One writer, readers on any executor. Shared by
// pointer; thread-safe.
class TurnLog {
 public:
  struct Item {
    std::uint32_t choice = 0;
    message::Events events;
    engine::TokenChunk chunk;
  };
  using ItemPtr = std::shared_ptr<const Item>;

  // `abandoned` is called, on whatever thread, when the last reader has left before the end.
  TurnLog(protocol::ChatHead shown, std::function<void()> abandoned)
      : head(std::move(shown)), abandoned_(std::move(abandoned)) {}

  const protocol::ChatHead head;  // the same in each answer

  void append(Item item);
  // The turns go to the store.
  void begin_commit();
  // The turns, or why there are none. Once.
  void finish(base::Result<Turns> turns);
  [[nodiscard]] bool finished() const;
  [[nodiscard]] bool succeeded() const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::size_t readers() const;
  // The session of the turns; empty before they are there.
  [[nodiscard]] std::string session() const;
  // A reader is on its way. The one that asked first counts from the start.
  void expect_reader();
  // The same, where nobody reads and none is on its way. False: somebody has it.
  [[nodiscard]] bool take_abandoned();
  // take_abandoned(), unless the turns stand already.
  [[nodiscard]] bool take_uncommitted();

  // One who follows the turns, for as long as it lives. On one executor.
  class Reader {
   public:
    Reader(std::shared_ptr<TurnLog> log, base::Executor& executor);
    Reader(const Reader&) = delete;
    ~Reader();

    // Shows the observer all that there is and that is to come; the turns. Errors: the turns', the
    // observer's, kCancelled when `gone` fires.
    base::Task<base::Result<Turns>> follow(TurnObserver& observer, base::CancelSignal& gone);

   private:
    friend class TurnLog;
    struct Wait;
    const std::shared_ptr<TurnLog> log_;
    base::Executor& executor_;
    std::coroutine_handle<> waiting_;  // under the log's mutex
  };

 private:
  // Where nobody has it, somebody does. Under the mutex.
  bool take();
  // Those who wait go on, each on its executor. Under the mutex.
  void wake();

  mutable std::mutex mutex_;
  std::function<void()> abandoned_;
  std::vector<ItemPtr> items_;
  std::optional<base::Result<Turns>> end_;
  std::vector<Reader*> readers_;
  bool commits_ = false;
  std::size_t expected_ = 1;  // readers on their way
  std::size_t bytes_ = 0;
};

// Writes what the turns of a request bring into its log, and into what is kept of their answer.
class TurnLogWriters final : public TurnObserver {
 public:
  // `kept` may be null.
  TurnLogWriters(TurnLog& log, unsigned choices, AnswerForm* kept = nullptr);
  TurnObserver& of_choice(std::uint32_t choice) override { return writers_[choice]; }
  std::unique_ptr<store::StoredResponse> record(const trajectory::Turn& turn) override {
    return kept_ == nullptr ? nullptr : kept_->record(turn);
  }
  std::unique_ptr<store::ConversationChange> advance(const trajectory::Turn& turn) override {
    return kept_ == nullptr ? nullptr : kept_->advance(turn);
  }
  void on_committing() override { log_.begin_commit(); }
  base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                    const engine::TokenChunk& chunk) override {
    return writers_.front().on_chunk(events, chunk);
  }

 private:
  class Choice final : public TurnObserver {
   public:
    Choice(TurnLog& log, std::uint32_t choice, AnswerForm* kept)
        : log_(log), choice_(choice), kept_(kept) {}
    base::Task<base::Status> on_chunk(std::span<const message::Event> events,
                                      const engine::TokenChunk& chunk) override;

   private:
    TurnLog& log_;
    std::uint32_t choice_;
    AnswerForm* kept_;
  };
  TurnLog& log_;
  AnswerForm* kept_;
  std::deque<Choice> writers_;
};

}  // namespace verbatim::gateway
