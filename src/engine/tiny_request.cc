#include "engine/tiny_request.h"

#include <array>
#include <utility>

#include "base/random.h"
#include "json/writer.h"

namespace verbatim::engine {

base::Task<base::Result<TokenEnd>> prove_one(Engine& engine, base::Runtime& runtime,
                                             base::MonoTime deadline, std::string model) {
  // So many that a server which ignores them counts others: few placeholders render to just these.
  static constexpr std::array<TokenId, 23> kPrompt = {1,  2,  3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                                      11, 10, 9, 8, 7, 6, 5, 4, 3, 2,  1};
  // For engines that read a chat beside the ids.
  json::Writer chat;
  chat.begin_object().field("model", model).key("messages").begin_array();
  chat.begin_object().field("role", "user").field("content", "ready?").end_object();
  chat.end_array().end_object();
  TokenRequest request;
  request.model = std::move(model);
  request.chat = chat.text();
  request.request_id = base::new_hex_id(runtime.random);
  request.prompt.emplace_back(kPrompt);
  request.max_new_tokens = 1;
  request.deadline = deadline;
  auto stream = co_await engine.generate(std::move(request));
  if (!stream.ok()) co_return std::move(stream).error();
  for (;;) {
    auto chunk = co_await (*stream)->next();
    if (!chunk.ok()) co_return std::move(chunk).error();
    if (!*chunk) co_return (*stream)->end();
  }
}

base::Task<base::Status> sample_one(Engine& engine, base::Runtime& runtime, base::MonoTime deadline,
                                    std::string model) {
  auto end = co_await prove_one(engine, runtime, deadline, std::move(model));
  if (!end.ok()) co_return std::move(end).error();
  co_return base::Status();
}

}  // namespace verbatim::engine
