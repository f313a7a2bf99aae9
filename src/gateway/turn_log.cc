#include "gateway/turn_log.h"

#include <algorithm>
#include <utility>

namespace verbatim::gateway {

using base::Result;
using base::Task;

namespace {

// Prompt id, sampled id with its logprob, the spans between them: about.
constexpr std::size_t kPathPerId = 16;

std::size_t size_of(const TurnLog::Item& item) {
  constexpr std::size_t kPerId = sizeof(base::TokenId) + sizeof(double);
  std::size_t size = sizeof item + item.events.size() * sizeof(message::Event);
  size += item.chunk.ids.size() * kPerId;
  for (const auto& tops : item.chunk.top_logprobs) size += tops.size() * 2 * sizeof(double);
  for (const auto& event : item.events) {
    if (const auto* text = std::get_if<message::TextDelta>(&event)) size += text->text.size();
    if (const auto* text = std::get_if<message::ReasoningDelta>(&event)) size += text->text.size();
    if (const auto* text = std::get_if<message::ToolCallArguments>(&event))
      size += text->text.size();
  }
  return size;
}

}  // namespace

void TurnLog::append(Item item) {
  auto shared = std::make_shared<const Item>(std::move(item));
  std::lock_guard lock(mutex_);
  bytes_ += size_of(*shared);
  items_.push_back(std::move(shared));
  wake();
}

void TurnLog::begin_commit() {
  std::lock_guard lock(mutex_);
  commits_ = true;
}

void TurnLog::finish(Result<Turns> turns) {
  std::lock_guard lock(mutex_);
  // Kept with them, whatever the store forgets: their whole paths.
  if (turns) {
    for (const auto& turn : *turns)
      bytes_ += turn->row_size * kPathPerId + turn->path_letters.size();
  }
  end_.emplace(std::move(turns));
  wake();
}

bool TurnLog::finished() const {
  std::lock_guard lock(mutex_);
  return end_.has_value();
}

bool TurnLog::succeeded() const {
  std::lock_guard lock(mutex_);
  return end_ && end_->ok();
}

std::size_t TurnLog::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

std::size_t TurnLog::readers() const {
  std::lock_guard lock(mutex_);
  return readers_.size();
}

std::string TurnLog::session() const {
  std::lock_guard lock(mutex_);
  return end_ && end_->ok() && !(*end_)->empty() ? (*end_)->front()->session_id : std::string();
}

void TurnLog::expect_reader() {
  std::lock_guard lock(mutex_);
  ++expected_;
}

bool TurnLog::take_uncommitted() {
  std::lock_guard lock(mutex_);
  return !commits_ && take();
}

bool TurnLog::take_abandoned() {
  std::lock_guard lock(mutex_);
  return take();
}

bool TurnLog::take() {
  if (!readers_.empty() || expected_ != 0) return false;
  expected_ = 1;
  return true;
}

void TurnLog::wake() {
  for (auto* reader : readers_) {
    if (const auto waiter = std::exchange(reader->waiting_, {}))
      reader->executor_.post([waiter] { waiter.resume(); });
  }
}

TurnLog::Reader::Reader(std::shared_ptr<TurnLog> log, base::Executor& executor)
    : log_(std::move(log)), executor_(executor) {
  std::lock_guard lock(log_->mutex_);
  log_->readers_.push_back(this);
  if (log_->expected_ != 0) --log_->expected_;
}

TurnLog::Reader::~Reader() {
  bool abandoned = false;
  {
    std::lock_guard lock(log_->mutex_);
    std::erase(log_->readers_, this);
    abandoned = log_->readers_.empty() && log_->expected_ == 0 && !log_->end_;
  }
  if (abandoned) log_->abandoned_();
}

// co_await: until there are more than `seen` items, or the end, or the signal fires.
struct TurnLog::Reader::Wait {
  Reader& reader;
  std::size_t seen;
  base::CancelSignal& gone;
  std::optional<base::CancelHook> on_gone{};

  [[nodiscard]] bool await_ready() const { return gone.fired(); }
  bool await_suspend(std::coroutine_handle<> waiter) {
    auto& log = *reader.log_;
    {
      std::lock_guard lock(log.mutex_);
      if (log.items_.size() > seen || log.end_) return false;
      reader.waiting_ = waiter;
    }
    on_gone.emplace(gone, [this] {
      std::lock_guard lock(reader.log_->mutex_);
      if (const auto left = std::exchange(reader.waiting_, {}))
        reader.executor_.post([left] { left.resume(); });
    });
    return true;
  }
  void await_resume() { on_gone.reset(); }
};

Task<Result<Turns>> TurnLog::Reader::follow(TurnObserver& observer, base::CancelSignal& gone) {
  observer.on_planned();
  std::vector<ItemPtr> more;
  for (std::size_t seen = 0;;) {
    Wait wait{*this, seen, gone};
    co_await wait;
    if (gone.fired()) co_return base::error(base::ErrorKind::kCancelled, gone.reason());
    std::optional<Result<Turns>> end;
    {
      std::lock_guard lock(log_->mutex_);
      more.assign(log_->items_.begin() + static_cast<std::ptrdiff_t>(seen), log_->items_.end());
      end = log_->end_;
    }
    for (const auto& item : more) {
      auto status = co_await observer.of_choice(item->choice).on_chunk(item->events, item->chunk);
      if (!status.ok()) co_return std::move(status).error();
    }
    seen += more.size();
    if (end) co_return *std::move(end);
  }
}

TurnLogWriters::TurnLogWriters(TurnLog& log, unsigned choices, AnswerForm* kept)
    : log_(log), kept_(kept) {
  for (std::uint32_t i = 0; i < choices; ++i) writers_.emplace_back(log, i, kept);
}

Task<base::Status> TurnLogWriters::Choice::on_chunk(std::span<const message::Event> events,
                                                    const engine::TokenChunk& chunk) {
  TurnLog::Item item;
  item.choice = choice_;
  item.events.assign(events.begin(), events.end());
  item.chunk = chunk;
  if (kept_ != nullptr) kept_->show(choice_, events, chunk);
  log_.append(std::move(item));
  co_return base::Status();
}

}  // namespace verbatim::gateway
