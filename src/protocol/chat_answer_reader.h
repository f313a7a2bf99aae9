#pragma once

#include <optional>

#include "protocol/answer_reader.h"
#include "protocol/chat_reader.h"

namespace verbatim::protocol {

// Answers to POST /v1/chat/completions: a chat.completion, or chunks with [DONE] behind them.
class ChatAnswerReader final : public AnswerReader {
 public:
  base::Status feed(const json::Value& object, message::Events& out) override;
  [[nodiscard]] bool finished() const override { return !result().finish_reason.empty(); }
  [[nodiscard]] bool ended() const override { return whole_.has_value(); }
  base::Result<AnswerEnd> finish() override;

 private:
  [[nodiscard]] const ChatResult& result() const { return whole_ ? *whole_ : stream_.result(); }

  ChatStreamReader stream_;
  std::optional<ChatResult> whole_;
};

}  // namespace verbatim::protocol
