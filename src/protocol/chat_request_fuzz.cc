// Any body is read or refused with a message; what is read obeys the ranges message::Sampling
// promises.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "protocol/chat_reader.h"
#include "protocol/chat_request.h"
#include "protocol/openai_error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string body(data, data + size);
  const auto request = verbatim::protocol::read_chat_request(body);
  if (!request) {
    if (request.error().message.empty()) std::abort();
    if (!verbatim::json::Document::parse(verbatim::protocol::openai_error_body(request.error()))) {
      std::abort();
    }
  } else {
    const auto& sampling = request->sampling;
    if (request->messages.empty()) std::abort();
    if (sampling.temperature && !(*sampling.temperature >= 0)) std::abort();
    if (sampling.top_p && !(*sampling.top_p > 0 && *sampling.top_p <= 1)) std::abort();
    if (sampling.max_tokens && *sampling.max_tokens == 0) std::abort();
  }
  verbatim::protocol::ChatStreamReader reader;
  verbatim::message::Events events;
  (void)reader.feed(body, events);
  (void)verbatim::protocol::read_chat_answer(body);
  return 0;
}
