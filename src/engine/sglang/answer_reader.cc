#include "engine/sglang/answer_reader.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/upstream.h"

namespace verbatim::engine::sglang {
namespace {

using base::Result;
using base::Status;
using json::Value;

// Speculative decoding may sample past the limit by the length of one draft.
constexpr std::uint64_t kOvershoot = 64;

}  // namespace

AnswerReader::AnswerReader(Sent sent) : sent_(std::move(sent)) {
  for (const auto& piece : sent_.prompt) prompt_tokens_ += piece.size();
}

Result<TokenChunk> AnswerReader::feed(std::string_view data) {
  if (data.empty()) return malformed("", "nothing", "a JSON object");
  TokenChunk chunk;
  const Cuts cuts = repeated_.find(data);
  if (std::any_of(cuts.begin(), cuts.end(), [](const auto& cut) { return cut.has_value(); })) {
    const State before = state_;
    if (read(RepeatedMembers::without(data, cuts), data, cuts, chunk).ok()) return chunk;
    // Something is wrong with it, or it is not what it looked like: the whole event tells.
    state_ = before;
    chunk = {};
  }
  if (auto status = read(std::string(data), data, {}, chunk); !status.ok())
    return std::move(status).error();
  return chunk;
}

// Reads `text`, which is `event` without its `cuts`.
Status AnswerReader::read(std::string text, std::string_view event, const Cuts& cuts,
                          TokenChunk& chunk) {
  auto document = parse_answer(std::move(text), "");
  if (!document.ok()) return std::move(document).error();
  const Value root = document->root();
  const auto meta = check_envelope(root);
  if (!meta.ok()) return meta.error();
  const auto counts = read_counts(*meta);
  if (!counts.ok()) return counts.error();
  if (auto status = read_meta(*meta, *counts); !status.ok()) return status;
  const Lists lists{root.get("output_ids"), meta->get("output_token_logprobs"),
                    meta->get("output_top_logprobs")};
  if (auto status = read_lists(lists, *counts, cuts, chunk); !status.ok()) return status;
  remember(root, event, cuts, chunk);
  return {};
}

// All but the counts and lists; gives meta_info.
Result<Value> AnswerReader::check_envelope(const Value& root) {
  if (root.is_array())
    return malformed("", "an array (several completions)", "an object (one completion)");
  if (!root.is_object()) return malformed("", found(root), "a JSON object");
  if (is_error_body(root)) {
    state_.engine_is_done = true;
    return reported_error(root);
  }
  if (state_.finish) return malformed("meta_info", "more behind the finish reason", "the end");
  if (const auto index = root.get("index"); index && !is_id(*index, 0))
    return malformed("index", found(*index), "0 (one completion)");
  const auto meta = root.get("meta_info");
  if (!meta || !meta->is_object())
    return malformed("meta_info", meta ? found(*meta) : "nothing", "an object");
  if (auto status = check_prompt(root, *meta); !status.ok()) return std::move(status).error();
  return *meta;
}

Status AnswerReader::check_prompt(const Value& root, const Value& meta) {
  const auto count = meta.get("prompt_tokens");
  if (count && count_of(*count) != prompt_tokens_) {
    return malformed("meta_info.prompt_tokens", found(*count),
                     std::to_string(prompt_tokens_) + " (ids sent)");
  }
  prompt_is_proved_ = prompt_is_proved_ || count;
  const auto echoed = root.get("prompt_token_ids");
  if (!echoed) return {};
  if (auto status = check_echo(*echoed, "prompt_token_ids", sent_.prompt); !status.ok())
    return status;
  prompt_is_proved_ = true;
  return {};
}

Result<Counts> AnswerReader::read_counts(const Value& meta) const {
  const char* const field = "meta_info.completion_tokens";
  const auto written = meta.get("completion_tokens");
  const auto total = written ? count_of(*written) : std::nullopt;
  if (!total) return malformed(field, written ? found(*written) : "nothing", "a count");
  const Counts counts{ids_.size(), *total};
  if (counts.total < counts.seen) {
    return malformed(field, std::to_string(counts.total),
                     "at least " + std::to_string(counts.seen) + " (ids received)");
  }
  if (counts.total > sent_.max_new_tokens + kOvershoot) {
    return malformed(field, std::to_string(counts.total),
                     "at most " + std::to_string(sent_.max_new_tokens) + " (max_new_tokens)");
  }
  return counts;
}

Status AnswerReader::read_meta(const Value& meta, const Counts& counts) {
  auto finish = read_finish(meta);
  if (!finish.ok()) {
    state_.engine_is_done = finish.error().code == "engine_abort";
    return std::move(finish).error();
  }
  if (*finish) {
    state_.finish = std::move(*finish);
    state_.engine_is_done = true;
  }
  if (const auto cached = meta.get("cached_tokens")) {
    state_.cached_tokens = count_of(*cached);
    if (!state_.cached_tokens)
      return malformed("meta_info.cached_tokens", found(*cached), "a count");
  }
  auto listed = read_weight_versions(meta, "meta_info.weight_versions");
  if (!listed.ok()) return std::move(listed).error();
  if (*listed) {
    state_.weights = std::move(**listed);
    return {};
  }
  const auto version = meta.get("weight_version");
  if (!version) return {};
  const auto name = version->is_string() ? version->string() : std::string(version->raw());
  if (!state_.weights.empty() && state_.weights.back().version == name) return {};
  // Engines that don't list spans name the weights of the newest ids.
  state_.weights.push_back({name, state_.weights.empty() ? 0 : counts.seen});
  return {};
}

void AnswerReader::remember(const Value& root, std::string_view event, const Cuts& cuts,
                            const TokenChunk& chunk) {
  ids_.insert(ids_.end(), chunk.ids.begin(), chunk.ids.end());
  logprobs_.insert(logprobs_.end(), chunk.logprobs.begin(), chunk.logprobs.end());
  const Value meta = *root.get("meta_info");
  const std::optional<Value> members[] = {root.get("text"), root.get("output_ids"),
                                          meta.get("output_token_logprobs"),
                                          meta.get("output_top_logprobs")};
  for (std::size_t i = 0; i < RepeatedMembers::kMembers; ++i) {
    const auto member = static_cast<RepeatedMembers::Member>(i);
    const auto& value = members[i];
    const bool text = member == RepeatedMembers::kText;
    const bool fits = value && (text ? value->is_string() : value->is_array());
    const std::string_view inside =
        fits ? value->raw().substr(1, value->raw().size() - 2) : std::string_view();
    if (cuts[i]) {
      repeated_[member].grow(event, *cuts[i], inside);
    } else {
      // Only a list of all entries so far can be repeated by the next event.
      repeated_[member].set(fits && (text || value->size() == ids_.size()) ? inside : "");
    }
  }
}

Result<TokenEnd> AnswerReader::finish() {
  if (!state_.finish) {
    return malformed("meta_info.finish_reason", "none at the end of the answer", "stop or length");
  }
  TokenEnd end = end_so_far();
  end.finish = std::move(*state_.finish);
  return end;
}

Result<TokenEnd> AnswerReader::cut() {
  if (!prompt_is_proved_) {
    return malformed("meta_info.prompt_tokens", "none before the cut",
                     std::to_string(prompt_tokens_) + " (ids sent)");
  }
  return end_so_far();
}

TokenEnd AnswerReader::end_so_far() {
  TokenEnd end;
  end.prompt_tokens = prompt_tokens_;
  end.prompt_is_proved = prompt_is_proved_;
  end.completion_tokens = ids_.size();
  end.cached_tokens = state_.cached_tokens;
  end.weight_versions = std::move(state_.weights);
  return end;
}

}  // namespace verbatim::engine::sglang
