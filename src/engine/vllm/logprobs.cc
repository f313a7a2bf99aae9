#include "engine/vllm/logprobs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/fields.h"

namespace verbatim::engine::vllm {
namespace {

using base::Status;
using json::Value;

constexpr const char* kContent = "choices[0].logprobs.content";
constexpr const char* kTokens = "choices[0].logprobs.tokens";
constexpr const char* kTokenLogprobs = "choices[0].logprobs.token_logprobs";
constexpr const char* kTops = "choices[0].logprobs.top_logprobs";

std::optional<TokenId> id_in(std::string_view text, std::uint64_t vocab_size) {
  const auto id = named_id(text);
  return id && *id < vocab_size ? id : std::nullopt;
}

// The id of an entry: the integer, or the one in its placeholder.
std::optional<TokenId> id_of(const Value& item, std::uint64_t vocab_size) {
  if (const auto id = member_in(item, "token_id")) {
    const auto number = count_of(*id);
    return number && *number < vocab_size && *number <= UINT32_MAX
               ? std::optional(static_cast<TokenId>(*number))
               : std::nullopt;
  }
  const auto token = member_in(item, "token");
  return token && token->is_string() ? id_in(token->string(), vocab_size) : std::nullopt;
}

Status check_size(const std::optional<Value>& list, const char* field, std::size_t size) {
  if (list && list->is_array() && list->size() == size) return {};
  return malformed(field, found(list), std::to_string(size) + " entries, one for each token id");
}

// vLLM puts the sampled id first, whether it is among the most likely or not. Here it stands where
// its logprob puts it.
void keep_likely(std::vector<TopLogprob>& tops, unsigned wanted) {
  std::stable_sort(tops.begin(), tops.end(),
                   [](const TopLogprob& a, const TopLogprob& b) { return a.logprob > b.logprob; });
  if (tops.size() > wanted) tops.resize(wanted);
}

Status read_alternatives(const Value& item, const std::string& field, std::uint64_t vocab_size,
                         unsigned wanted, TokenChunk& chunk) {
  auto& tops = chunk.top_logprobs.emplace_back();
  const auto list = member_in(item, "top_logprobs");
  if (!list) return {};
  if (!list->is_array()) return malformed(field, found(list), "an array");
  for (const auto& member : *list) {
    const auto id = id_of(member.value, vocab_size);
    const auto logprob = member_in(member.value, "logprob");
    const auto number = logprob ? logprob_of(*logprob) : std::nullopt;
    if (!id || !number)
      return malformed(entry(field, tops.size()), found(member.value),
                       "a token id and its logprob");
    tops.push_back({*id, *number});
  }
  keep_likely(tops, wanted);
  return {};
}

}  // namespace

Status read_content(const Value& logprobs, std::uint64_t at, std::uint64_t vocab_size,
                    unsigned tops, TokenChunk& chunk) {
  const auto list = member_in(logprobs, "content");
  if (auto status = check_size(list, kContent, chunk.ids.size()); !status.ok()) return status;
  std::size_t i = 0;
  for (const auto& member : *list) {
    const auto field = entry(kContent, at + i);
    const auto id = id_of(member.value, vocab_size);
    if (id != chunk.ids[i]) {
      auto said = member_in(member.value, "token_id");
      if (!said) said = member_in(member.value, "token");
      return malformed(field, found(said), std::to_string(chunk.ids[i]) + " (the id in token_ids)");
    }
    const auto logprob = sampled_logprob(member_in(member.value, "logprob"), field + ".logprob");
    if (!logprob.ok()) return logprob.error();
    chunk.logprobs.push_back(*logprob);
    if (tops > 0) {
      auto status =
          read_alternatives(member.value, field + ".top_logprobs", vocab_size, tops, chunk);
      if (!status.ok()) return status;
    }
    ++i;
  }
  return {};
}

Status read_parallel(const Value& logprobs, std::uint64_t at, std::uint64_t vocab_size,
                     unsigned tops, TokenChunk& chunk) {
  const auto size = chunk.ids.size();
  const auto tokens = member_in(logprobs, "tokens");
  const auto numbers = member_in(logprobs, "token_logprobs");
  if (auto status = check_size(tokens, kTokens, size); !status.ok()) return status;
  if (auto status = check_size(numbers, kTokenLogprobs, size); !status.ok()) return status;
  std::size_t i = 0;
  for (const auto& member : *tokens) {
    const auto id = member.value.is_string() ? id_in(member.value.string(), vocab_size)
                                             : std::optional<TokenId>();
    if (id != chunk.ids[i]) {
      return malformed(entry(kTokens, at + i), found(member.value),
                       "token_id:" + std::to_string(chunk.ids[i]) + " (the id in token_ids)");
    }
    ++i;
  }
  i = 0;
  for (const auto& member : *numbers) {
    const auto logprob = sampled_logprob(member.value, entry(kTokenLogprobs, at + i));
    if (!logprob.ok()) return logprob.error();
    chunk.logprobs.push_back(*logprob);
    ++i;
  }
  if (tops == 0) return {};
  const auto alternatives = member_in(logprobs, "top_logprobs");
  if (auto status = check_size(alternatives, kTops, size); !status.ok()) return status;
  i = 0;
  for (const auto& member : *alternatives) {
    auto& into = chunk.top_logprobs.emplace_back();
    if (!member.value.is_object())
      return malformed(entry(kTops, at + i), found(member.value), "an object");
    for (const auto& top : member.value) {
      const auto id = id_in(top.name(), vocab_size);
      const auto number = logprob_of(top.value);
      if (!id || !number)
        return malformed(entry(kTops, at + i), found(top.value), "a token id and its logprob");
      into.push_back({*id, *number});
    }
    keep_likely(into, tops);
    ++i;
  }
  return {};
}

}  // namespace verbatim::engine::vllm
