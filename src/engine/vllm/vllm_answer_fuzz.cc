#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/vllm/answer_reader.h"

// The first byte chooses the route, the lines behind it are the objects of one answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim;
  using engine::vllm::Route;
  if (size == 0) return 0;
  const base::TokenIds prompt = {1, 2, 3};
  const Route route = (data[0] & 1) != 0 ? Route::kGenerate : Route::kCompletions;
  engine::vllm::AnswerReader reader(route, {{prompt}, 100, 1000, 2});
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::size_t ids = 0;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
    const auto chunk = reader.feed(line);
    if (!chunk.ok()) return 0;
    if (chunk->ids.size() != chunk->logprobs.size()) __builtin_trap();
    if (chunk->ids.size() != chunk->top_logprobs.size()) __builtin_trap();
    for (const auto id : chunk->ids) {
      if (id >= 1000) __builtin_trap();
    }
    ids += chunk->ids.size();
  }
  const auto end = reader.finish();
  if (end.ok() && (end->completion_tokens != ids || ids > 100)) __builtin_trap();
  return 0;
}
