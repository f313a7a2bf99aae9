#include "gateway/streamed_answer.h"

#include "net/sse.h"

namespace verbatim::gateway {

using base::Status;
using base::Task;

Task<Status> ShownAnswer::show(std::uint32_t choice, std::span<const message::Event> events,
                               const engine::TokenChunk& chunk) {
  form_.show(choice, events, chunk);
  co_return Status();
}

StreamedAnswer::StreamedAnswer(base::Runtime& runtime, net::Responder& responder, AnswerForm& form,
                               unsigned choices, const net::Headers& headers)
    : ShownAnswer(form, choices),
      runtime_(runtime),
      responder_(responder),
      headers_(headers),
      writing_(runtime.executor) {}

Task<Status> StreamedAnswer::show(std::uint32_t choice, std::span<const message::Event> events,
                                  const engine::TokenChunk& chunk) {
  const auto pass = co_await writing_.enter();
  silence_.cancel();
  if (auto status = begin(); !status.ok()) co_return status;
  form_.show(choice, events, chunk);
  form_.take_frames(frames_);
  if (!frames_.empty()) {
    if (auto status = co_await responder_.write(frames_); !status.ok()) co_return status;
  }
  arm();
  co_return Status();
}

Task<Status> StreamedAnswer::finish(std::span<const trajectory::TurnPtr> turns) {
  const auto pass = co_await writing_.enter();
  silence_.cancel();
  if (auto status = begin(); !status.ok()) co_return status;
  form_.finish(turns);
  form_.take_frames(frames_);
  co_return co_await responder_.end(frames_);
}

Task<Status> StreamedAnswer::fail(const base::Error& error) {
  const auto pass = co_await writing_.enter();
  silence_.cancel();
  form_.fail(error);
  form_.take_frames(frames_);
  co_return co_await responder_.end(frames_);
}

bool StreamedAnswer::over() {
  silence_.cancel();
  return begun_;
}

Status StreamedAnswer::begin() {
  if (begun_) return {};
  begun_ = true;
  return responder_.begin_stream(200, headers_);
}

void StreamedAnswer::arm() {
  silence_.arm(runtime_.executor.timers(), runtime_.clock().now() + kKeepAlive,
               [this] { base::spawn(ping()); });
}

// A comment that can't be written is nobody's loss: the connection is gone, and the turn's signal
// fires for that.
Task<void> StreamedAnswer::ping() {
  const auto pass = co_await writing_.enter();
  if (!begin().ok()) co_return;
  frames_.clear();
  net::append_sse_comment(frames_, "keep-alive");
  const auto status = co_await responder_.write(frames_);
  if (status.ok()) arm();
}

}  // namespace verbatim::gateway
