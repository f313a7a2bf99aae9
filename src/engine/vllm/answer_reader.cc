#include "engine/vllm/answer_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/fields.h"
#include "engine/upstream.h"
#include "engine/vllm/logprobs.h"

namespace verbatim::engine::vllm {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr const char* kIds = "choices[0].token_ids";
constexpr const char* kFinish = "choices[0].finish_reason";
constexpr const char* kStop = "choices[0].stop_reason";
constexpr const char* kPrompt = "prompt_token_ids";

base::Error engine_abort(const std::string& raw) {
  auto error = base::error(base::ErrorKind::kEngine,
                           raw == "abort" ? "the engine aborted the generation"
                                          : "the engine failed within the generation");
  error.code = raw == "abort" ? "engine_abort" : "engine_error";
  return error;
}

Status read_stop(const Value& choice, EngineFinish& into) {
  const auto reason = member_in(choice, "stop_reason");
  if (!reason) return {};
  if (reason->is_string()) {
    into.matched_string = reason->string();
    return {};
  }
  const auto id = count_of(*reason);
  if (!id || *id > UINT32_MAX) return malformed(kStop, found(reason), "a token id or a string");
  into.matched_id = static_cast<TokenId>(*id);
  return {};
}

Status check_count(const Value& usage, const char* name, std::uint64_t expected, const char* what) {
  const auto value = member_in(usage, name);
  if (value && count_of(*value) == expected) return {};
  return malformed(std::string("usage.") + name, found(value), std::to_string(expected) + what);
}

}  // namespace

AnswerReader::AnswerReader(Route route, Sent sent) : route_(route), sent_(std::move(sent)) {
  for (const auto& piece : sent_.prompt) prompt_tokens_ += piece.size();
}

Result<TokenChunk> AnswerReader::feed(std::string_view data) {
  if (data.empty()) return malformed("", "nothing", "a JSON object");
  auto document = parse_answer(std::string(data), "");
  if (!document.ok()) return std::move(document).error();
  return take(document->root());
}

Result<TokenChunk> AnswerReader::take(const Value& root) {
  const auto choices = check_envelope(root);
  if (!choices.ok()) return choices.error();
  TokenChunk chunk;
  // The event that only brings the usage has no choice.
  if (!choices->empty()) {
    if (auto status = read_choice((*choices->begin()).value, chunk); !status.ok())
      return std::move(status).error();
  }
  if (const auto prompt = member_in(root, kPrompt)) {
    auto status = check_prompt(*prompt, kPrompt);
    if (!status.ok()) return std::move(status).error();
  }
  ids_ += chunk.ids.size();
  if (!chunk.ids.empty()) last_id_ = chunk.ids.back();
  if (const auto usage = member_in(root, "usage")) {
    if (auto status = read_usage(*usage); !status.ok()) return std::move(status).error();
  }
  return chunk;
}

Result<Value> AnswerReader::check_envelope(const Value& root) {
  if (!root.is_object()) return malformed("", found(root), "a JSON object");
  if (is_error_body(root)) {
    engine_is_done_ = true;
    return reported_error(root);
  }
  const auto choices = member_in(root, "choices");
  if (!choices || !choices->is_array() || choices->size() > 1)
    return malformed("choices", found(choices), "an array of one choice");
  return *choices;
}

Status AnswerReader::read_choice(const Value& choice, TokenChunk& chunk) {
  if (!choice.is_object()) return malformed("choices[0]", found(choice), "an object");
  const auto index = member_in(choice, "index");
  if (!index || count_of(*index) != 0)
    return malformed("choices[0].index", found(index), "0, for one choice was asked for");
  if (auto status = read_ids(choice, chunk); !status.ok()) return status;
  if (const auto prompt = member_in(choice, kPrompt)) {
    auto status = check_prompt(*prompt, "choices[0].prompt_token_ids");
    if (!status.ok()) return status;
  }
  auto weights = read_weight_versions(choice, "choices[0].weight_versions");
  if (!weights.ok()) return std::move(weights).error();
  if (*weights) weights_ = std::move(**weights);
  return read_finish(choice);
}

Status AnswerReader::read_ids(const Value& choice, TokenChunk& chunk) {
  const auto list = member_in(choice, "token_ids");
  if (!list || !list->is_array())
    return malformed(kIds, found(list), "an array of the sampled token ids");
  const auto logprobs = member_in(choice, "logprobs");
  if (list->empty()) {
    const auto content = logprobs ? member_in(*logprobs, "content") : std::nullopt;
    if (!content || !content->is_array() || content->empty()) return {};
    return malformed(kIds, "no ids",
                     "one for each of the " + std::to_string(content->size()) + " logprobs");
  }
  if (finish_) {
    return malformed(kIds, found(list), "nothing behind finish_reason \"" + finish_->raw + "\"");
  }
  chunk.ids.reserve(list->size());
  for (const auto& member : *list) {
    const auto id = token_id(member.value, kIds, ids_ + chunk.ids.size(), sent_.vocab_size);
    if (!id.ok()) return id.error();
    chunk.ids.push_back(*id);
  }
  if (ids_ + chunk.ids.size() > sent_.max_new_tokens) {
    return malformed(kIds, std::to_string(ids_ + chunk.ids.size()) + " ids",
                     "at most max_tokens " + std::to_string(sent_.max_new_tokens));
  }
  if (!logprobs)
    return malformed("choices[0].logprobs", "nothing", "a logprob for each sampled token id");
  return route_ == Route::kGenerate
             ? read_content(*logprobs, ids_, sent_.vocab_size, sent_.top_logprobs, chunk)
             : read_parallel(*logprobs, ids_, sent_.vocab_size, sent_.top_logprobs, chunk);
}

Status AnswerReader::read_finish(const Value& choice) {
  const auto reason = member_in(choice, "finish_reason");
  if (!reason) return {};
  EngineFinish finish;
  if (reason->is_string()) finish.raw = reason->string();
  if (finish_ && finish_->raw != finish.raw)
    return malformed(kFinish, found(reason), "\"" + finish_->raw + "\" as before");
  engine_is_done_ = true;
  if (finish.raw == "abort" || finish.raw == "error") return engine_abort(finish.raw);
  if (finish.raw == "length") {
    finish.kind = EngineFinish::Kind::kLength;
  } else if (finish.raw != "stop") {
    return malformed(kFinish, found(reason), "stop, length or abort");
  }
  if (auto status = read_stop(choice, finish); !status.ok()) return status;
  finish_ = std::move(finish);
  return {};
}

Status AnswerReader::read_usage(const Value& usage) {
  if (!usage.is_object()) return malformed("usage", found(usage), "an object");
  auto status = check_count(usage, "prompt_tokens", prompt_tokens_,
                            " ids as sent; the server read another prompt");
  if (!status.ok()) return status;
  prompt_is_proved_ = true;
  status = check_count(usage, "completion_tokens", ids_, " token ids");
  if (!status.ok()) return status;
  const auto details = member_in(usage, "prompt_tokens_details");
  const auto cached = details ? member_in(*details, "cached_tokens") : std::nullopt;
  if (!cached) return {};
  cached_tokens_ = count_of(*cached);
  if (cached_tokens_) return {};
  return malformed("usage.prompt_tokens_details.cached_tokens", found(cached), "a count");
}

Status AnswerReader::check_prompt(const Value& ids, std::string_view field) {
  if (auto status = check_echo(ids, field, sent_.prompt); !status.ok()) return status;
  prompt_is_proved_ = true;
  return {};
}

Result<TokenEnd> AnswerReader::finish() {
  if (!finish_) return malformed(kFinish, "none at the end of the answer", "stop or length");
  if (finish_->matched_id && finish_->matched_id != last_id_) {
    return malformed(kStop, std::to_string(*finish_->matched_id),
                     last_id_ ? std::to_string(*last_id_) + " (the last id)" : "a sampled id");
  }
  // Asked for by return_token_ids, and by include_usage.
  if (route_ == Route::kCompletions && !prompt_is_proved_)
    return malformed("usage.prompt_tokens", "nothing", std::to_string(prompt_tokens_) + " as sent");
  if (!weights_.empty() && weights_.back().begin >= std::max<std::uint64_t>(ids_, 1)) {
    return malformed("choices[0].weight_versions", "start " + std::to_string(weights_.back().begin),
                     "a start below the " + std::to_string(ids_) + " token ids");
  }
  TokenEnd end = end_so_far();
  end.finish = std::move(*finish_);
  return end;
}

Result<TokenEnd> AnswerReader::cut() {
  if (!prompt_is_proved_)
    return malformed("usage.prompt_tokens", "none before the cut", "the count of the ids sent");
  return end_so_far();
}

TokenEnd AnswerReader::end_so_far() {
  TokenEnd end;
  end.prompt_is_proved = prompt_is_proved_;
  end.prompt_tokens = prompt_tokens_;
  end.completion_tokens = ids_;
  end.cached_tokens = cached_tokens_;
  end.weight_versions = std::move(weights_);
  return end;
}

}  // namespace verbatim::engine::vllm
