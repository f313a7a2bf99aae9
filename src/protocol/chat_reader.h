#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "message/event.h"
#include "message/fold.h"
#include "message/usage.h"
#include "protocol/unknown_members.h"

namespace verbatim::protocol {

// What a server answered to a chat request: the other direction of chat_answer.h and chat_stream.h.
struct ChatResult {
  std::string id;
  std::string model;
  message::Folded turn;       // native_id holds the id of a call as it was sent
  std::string finish_reason;  // the server's word; empty: none came
  std::optional<message::Usage> usage;
  std::vector<RawMember>
      unknown;  // of the message; `reasoning` is among them where it is so called
  bool operator==(const ChatResult&) const = default;
};

// Reads a chat.completion object. Errors (kEngine) name the field.
base::Result<ChatResult> read_chat_answer(std::string body);
base::Result<ChatResult> read_chat_answer(const json::Value& answer);

// Reads the payloads of `data:` lines of one stream, in order. Reasoning may be called
// reasoning_content or reasoning; unknown fields are ignored.
// Life: one per stream; after an error it is spent. Not thread-safe.
class ChatStreamReader {
 public:
  // Appends the events of one payload. Errors: kEngine for what is no chunk, for an error event
  // (its message is kept), for anything behind "[DONE]".
  base::Status feed(std::string_view payload, message::Events& out);
  // The same with a chunk that was read already.
  base::Status read_chunk(const json::Value& chunk, message::Events& out);
  // "[DONE]" was seen.
  [[nodiscard]] bool done() const { return done_; }
  // What has been read so far.
  [[nodiscard]] const ChatResult& result() const { return result_; }

 private:
  base::Status read_choice(const json::Value& choice, message::Events& out);
  base::Status read_delta(const json::Value& delta, message::Events& out);
  base::Status read_calls(const json::Value& calls, message::Events& out);
  base::Status read_call(const json::Value& delta, const std::string& field, message::Events& out);
  void end_call(message::Events& out);
  void give_text(message::Event event, message::Events& out);
  void give(message::Event event, message::Events& out);

  ChatResult result_;
  UnknownMembers unknown_;
  bool call_open_ = false;
  bool done_ = false;
};

}  // namespace verbatim::protocol
