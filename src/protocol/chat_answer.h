#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "message/event.h"
#include "message/message.h"
#include "message/usage.h"

namespace verbatim::protocol {

// What stands in every object of one answer.
struct ChatHead {
  std::string id;            // "chatcmpl-..."
  std::int64_t created = 0;  // Unix time, seconds
  std::string model;         // as the client named it, else the served name
};

// A sampled token with its logprob (natural log). `bytes` need not be whole characters.
struct TokenLogprob {
  struct Top {
    std::string bytes;
    double logprob = 0;
  };
  std::string bytes;
  double logprob = 0;
  std::vector<Top> top;
};

// A whole turn (one choice of an answer), for clients that do not stream. Ids of calls are what the
// client is to see.
struct ChatAnswer {
  message::Message message;  // role assistant
  message::FinishReason finish = message::FinishReason::kStop;
  message::Usage usage;  // of the whole answer; read of the first choice
  std::vector<TokenLogprob> logprobs;
  bool with_logprobs = false;  // the client asked: an empty list is shown too
};

// The chat.completion object. Format: OpenAI API reference, "The chat completion object", and
// reasoning_content as DeepSeek, SGLang and older vLLM name it. Fields without content are left
// out, but for content, which is then null.
std::string write_chat_answer(const ChatHead& head, const ChatAnswer& answer);
// The same with several choices, at least one.
std::string write_chat_answer(const ChatHead& head, std::span<const ChatAnswer> choices);

}  // namespace verbatim::protocol
