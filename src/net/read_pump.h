#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/stream.h"
#include "base/task.h"

namespace verbatim::net {

// Keeps one read pending on a stream and holds what arrived for one consumer, so that the end of
// the stream is noticed at once, even while the consumer does something else. Reading stops while
// the buffer is full. Life: start(), then close() and `co_await closed()` before it or the stream
// is destroyed. One executor.
class ReadPump {
 public:
  // Told once, when the stream has ended or failed. It must not destroy the pump.
  class Observer {
   public:
    virtual void on_stream_end() = 0;

   protected:
    ~Observer() = default;
  };

  ReadPump(base::ByteStream& stream, Observer& observer, std::size_t capacity);
  ReadPump(const ReadPump&) = delete;

  void start();
  // What arrived and was not consumed. Lives until the caller suspends; pinned, until consume().
  [[nodiscard]] std::string_view data() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t n);
  // Bytes that are looked at over a suspension are not moved until the next consume().
  void pin() { pinned_ = true; }
  // Nothing will arrive behind data() any more.
  [[nodiscard]] bool ended() const { return ended_; }
  // Why, where it was no orderly end.
  [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }
  // Closes the stream. A consumer waiting in more() is resumed (by the executor).
  void close();

  // Resumes a consumer waiting in more(), though nothing arrived.
  void interrupt() {
    if (consumer_) std::exchange(consumer_, {}).resume();
  }

  // co_await pump.more(): until there is data or the end.
  struct More {
    ReadPump& pump;
    [[nodiscard]] bool await_ready() const noexcept {
      return pump.begin_ != pump.end_ || pump.ended_;
    }
    void await_suspend(std::coroutine_handle<> h) noexcept { pump.consumer_ = h; }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] More more() { return {*this}; }
  // co_await pump.closed(): until the last read is over. After that nothing touches pump or stream.
  struct Closed {
    ReadPump& pump;
    [[nodiscard]] bool await_ready() const noexcept { return pump.finished_; }
    void await_suspend(std::coroutine_handle<> h) noexcept { pump.closer_ = h; }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] Closed closed() { return {*this}; }

 private:
  struct Room {
    ReadPump& pump;
    [[nodiscard]] bool await_ready() const noexcept { return pump.closing_ || pump.has_room(); }
    void await_suspend(std::coroutine_handle<> h) noexcept { pump.paused_ = h; }
    void await_resume() const noexcept {}
  };
  [[nodiscard]] bool has_room() const;
  void make_room();
  base::Task<void> run();

  base::ByteStream& stream_;
  Observer& observer_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::coroutine_handle<> consumer_;
  std::coroutine_handle<> closer_;
  std::coroutine_handle<> paused_;
  std::optional<base::Error> error_;
  bool pinned_ = false;
  bool closing_ = false;  // close() was called: nobody will make room
  bool ended_ = false;
  bool finished_ = false;
};

}  // namespace verbatim::net
