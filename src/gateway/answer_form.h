#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "engine/engine.h"
#include "message/event.h"
#include "store/store.h"
#include "trajectory/turn.h"

namespace verbatim::gateway {

// What becomes of one request, written in the protocol of its client: as a whole, or frame by frame
// of a stream. Life: one per answer; show() while it is sampled, then finish() or fail(), or
// whole(). On the thread of its answer.
class AnswerForm {
 public:
  virtual ~AnswerForm() = default;
  // What is new of one of several choices.
  virtual void show(std::uint32_t choice, std::span<const message::Event> events,
                    const engine::TokenChunk& chunk) = 0;
  // The end of a stream, once its turns are recorded.
  virtual void finish(std::span<const trajectory::TurnPtr> turns) = 0;
  virtual void fail(const base::Error& error) = 0;
  // The body of an answer that is not streamed.
  virtual std::string whole(std::span<const trajectory::TurnPtr> turns) = 0;
  // What is kept of the answer beside its turn, in the same commit; null: nothing. Asked once,
  // behind the last show().
  virtual std::unique_ptr<store::StoredResponse> record(const trajectory::Turn& /*turn*/) {
    return nullptr;
  }

  // What becomes of the conversation it is in, in the same commit; null: it is in none. Asked once,
  // behind record().
  virtual std::unique_ptr<store::ConversationChange> advance(const trajectory::Turn& /*turn*/) {
    return nullptr;
  }

  // The frames since the last call, as they go over the wire; may be none. In place of what `into`
  // holds, whose memory is used again.
  void take_frames(std::string& into) {
    into.clear();
    into.swap(frames_);
  }

 protected:
  std::string frames_;
};

}  // namespace verbatim::gateway
