#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/dynamo/answer_reader.h"

// Lines of the input are the objects of one answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim;
  const base::TokenIds prompt = {1, 2, 3};
  engine::dynamo::AnswerReader reader({{prompt}, {9}, 100, 1000, true});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
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
  if (!end.ok()) return 0;
  if (end->completion_tokens != ids || end->exact_logprobs->size() != ids) __builtin_trap();
  return 0;
}
