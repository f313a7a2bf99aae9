#include "engine/sglang/answer_reader.h"

#include <cmath>
#include <utility>

#include "engine/upstream.h"

namespace verbatim::engine::sglang {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr const char* kIds = "output_ids";
constexpr const char* kLogprobs = "meta_info.output_token_logprobs";
constexpr const char* kTopLogprobs = "meta_info.output_top_logprobs";
// Speculative decoding may sample past the limit by the length of one draft.
constexpr std::uint64_t kOvershoot = 64;
constexpr std::size_t kMaxTopLogprobs = 1024;
constexpr const char* kALogprob = "a finite number (a logprob)";

// `list` begins with the entries of `earlier`, byte for byte: nothing in them needs reading again.
bool begins_with(const Value& list, std::string_view earlier) {
  const auto raw = list.raw();
  if (earlier.empty() || !raw.starts_with(earlier)) return false;
  const char next = raw[earlier.size()];
  return next == ',' || next == ']';
}

bool is_id(const Value& value, TokenId id) {
  return value.is_number() && value.written_as_integer() && value.integer() == id;
}

std::optional<double> logprob_of(const Value& value) {
  const auto number = value.is_number() ? value.number() : std::nullopt;
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

AnswerReader::AnswerReader(Sent sent) : sent_(std::move(sent)) {
  for (const auto& piece : sent_.prompt) prompt_tokens_ += piece.size();
}

Result<TokenChunk> AnswerReader::feed(std::string_view data) {
  if (data.empty()) return malformed("", "nothing", "a JSON object");
  auto document = json::Document::parse(std::string(data), {.max_bytes = SIZE_MAX});
  if (!document.ok()) {
    return malformed("", "text that is not JSON (" + document.error().message + ")",
                     "a JSON object");
  }
  TokenChunk chunk;
  if (auto status = read(document->root(), chunk); !status.ok()) return std::move(status).error();
  last_ = std::move(*document);
  return chunk;
}

Status AnswerReader::read(const Value& root, TokenChunk& chunk) {
  if (root.is_array())
    return malformed("", "an array (several completions)", "an object (one completion)");
  if (!root.is_object()) return malformed("", found(root), "a JSON object");
  if (is_error_body(root)) {
    engine_is_done_ = true;
    return reported_error(root);
  }
  if (finish_) return malformed("meta_info", "more behind the finish reason", "the end");
  if (const auto index = root.get("index"); index && !is_id(*index, 0))
    return malformed("index", found(*index), "0 (one completion)");
  const auto meta = root.get("meta_info");
  if (!meta || !meta->is_object())
    return malformed("meta_info", meta ? found(*meta) : "nothing", "an object");
  if (auto status = check_prompt(root, *meta); !status.ok()) return status;
  auto counts = read_counts(*meta);
  if (!counts.ok()) return std::move(counts).error();
  if (auto status = read_meta(*meta, *counts); !status.ok()) return status;
  const Lists lists{root.get(kIds), meta->get("output_token_logprobs"),
                    meta->get("output_top_logprobs")};
  if (auto status = read_lists(lists, *counts, chunk); !status.ok()) return status;
  remember(lists, *counts, chunk);
  return {};
}

Status AnswerReader::check_prompt(const Value& root, const Value& meta) const {
  const auto count = meta.get("prompt_tokens");
  if (count && count_of(*count) != prompt_tokens_) {
    return malformed("meta_info.prompt_tokens", found(*count),
                     std::to_string(prompt_tokens_) + " (ids sent)");
  }
  const auto echoed = root.get("prompt_token_ids");
  if (!echoed) return {};
  if (!echoed->is_array() || echoed->size() != prompt_tokens_) {
    return malformed("prompt_token_ids", found(*echoed),
                     "the " + std::to_string(prompt_tokens_) + " ids sent");
  }
  auto at = echoed->begin();
  std::uint64_t i = 0;
  for (const auto& piece : sent_.prompt) {
    for (const TokenId id : piece) {
      const Value value = (*at).value;
      if (!is_id(value, id)) {
        return malformed(entry("prompt_token_ids", i), found(value),
                         std::to_string(id) + " (as sent)");
      }
      ++at;
      ++i;
    }
  }
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
    engine_is_done_ = finish.error().code == "engine_abort";
    return std::move(finish).error();
  }
  if (*finish) {
    finish_ = std::move(*finish);
    engine_is_done_ = true;
  }
  if (const auto cached = meta.get("cached_tokens")) {
    cached_tokens_ = count_of(*cached);
    if (!cached_tokens_) return malformed("meta_info.cached_tokens", found(*cached), "a count");
  }
  auto listed = read_weight_versions(meta);
  if (!listed.ok()) return std::move(listed).error();
  if (*listed) {
    weights_ = std::move(**listed);
    return {};
  }
  const auto version = meta.get("weight_version");
  if (!version) return {};
  const auto name = version->is_string() ? version->string() : std::string(version->raw());
  if (!weights_.empty() && weights_.back().version == name) return {};
  // Engines that don't list spans name the weights of the newest ids.
  weights_.push_back({name, weights_.empty() ? 0 : counts.seen});
  return {};
}

Status AnswerReader::read_lists(const Lists& lists, const Counts& counts, TokenChunk& chunk) {
  if (lists.ids) {
    if (auto status = read_ids(*lists.ids, counts, chunk); !status.ok()) return status;
  }
  if (lists.logprobs) {
    if (auto status = read_logprobs(*lists.logprobs, counts, chunk); !status.ok()) return status;
  } else if (counts.fresh() > 0) {
    return malformed(kLogprobs, "nothing", std::to_string(counts.fresh()) + " entries");
  }
  if (!lists.top_logprobs || lists.top_logprobs->empty()) return {};
  return read_top_logprobs(*lists.top_logprobs, counts, chunk);
}

Result<TokenId> AnswerReader::token_id(const Value& value, const char* list,
                                       std::uint64_t at) const {
  if (!value.is_number() || !value.written_as_integer())
    return malformed(entry(list, at), found(value), "a token id (an integer)");
  const auto id = value.integer();
  if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= sent_.vocab_size) {
    return malformed(entry(list, at), found(value),
                     "a token id below the vocabulary's " + std::to_string(sent_.vocab_size));
  }
  return static_cast<TokenId>(*id);
}

Status AnswerReader::read_ids(const Value& list, const Counts& counts, TokenChunk& chunk) {
  const auto form = form_of(list, kIds, counts, ids_form_);
  if (!form.ok()) return form.error();
  ids_form_ = *form;
  const std::uint64_t repeated = ids_form_ == Form::kAll ? counts.seen : 0;
  const bool known = begins_with(list, all_ids_);
  chunk.ids.reserve(counts.fresh());
  std::uint64_t i = 0;
  for (const auto& member : list) {
    const std::uint64_t at = i++;
    if (at < repeated) {
      if (known || is_id(member.value, ids_[at])) continue;
      return malformed(entry(kIds, at), found(member.value),
                       std::to_string(ids_[at]) + " (as in the event before)");
    }
    const auto id = token_id(member.value, kIds, at);
    if (!id.ok()) return id.error();
    chunk.ids.push_back(*id);
  }
  return {};
}

std::uint64_t AnswerReader::same_logprobs(const Value& list) const {
  if (begins_with(list, all_logprobs_)) return ids_.size();
  auto at = list.begin();
  for (std::uint64_t i = 0; i < ids_.size(); ++i, ++at) {
    const auto parts = logprob_entry((*at).value);
    if (!parts || !is_id(parts->id, ids_[i]) || !parts->logprob.is_number() ||
        parts->logprob.number() != logprobs_[i])
      return i;
  }
  return ids_.size();
}

Status AnswerReader::check_form(const Value& list, const Counts& counts,
                                std::optional<Form> before) const {
  if (logprobs_form_ == Form::kAll) {
    const std::uint64_t same = same_logprobs(list);
    if (same == counts.seen) return {};
    auto at = list.begin();
    for (std::uint64_t i = 0; i < same; ++i) ++at;
    return malformed(entry(kLogprobs, same), excerpt((*at).value.raw()),
                     "the same as in the event before");
  }
  const bool first_told = logprobs_form_ == Form::kNew && before != Form::kNew;
  if (!first_told || sent_.streams_new_only || counts.fresh() < counts.seen) return {};
  if (same_logprobs(list) < counts.seen) return {};
  return malformed(kLogprobs,
                   "the entries of the event before, and completion_tokens that count them twice",
                   std::to_string(counts.total) + " entries");
}

Status AnswerReader::read_logprobs(const Value& list, const Counts& counts, TokenChunk& chunk) {
  const auto before = logprobs_form_;
  const auto form = form_of(list, kLogprobs, counts, before);
  if (!form.ok()) return form.error();
  logprobs_form_ = *form;
  if (auto status = check_form(list, counts, before); !status.ok()) return status;
  const std::uint64_t repeated = logprobs_form_ == Form::kAll ? counts.seen : 0;
  // Releases without output_ids name the ids here only.
  const bool ids_known = chunk.ids.size() == counts.fresh();
  auto at = list.begin();
  for (std::uint64_t i = 0; i < repeated; ++i) ++at;
  for (std::uint64_t i = 0; i < counts.fresh(); ++i, ++at) {
    const Value value = (*at).value;
    const auto field = [&](const char* part) { return entry(kLogprobs, repeated + i) + part; };
    const auto parts = logprob_entry(value);
    if (!parts) return malformed(field(""), found(value), "[logprob, id, text or null]");
    const auto id = token_id(parts->id, kLogprobs, repeated + i);
    if (!id.ok()) return id.error();
    if (!ids_known) chunk.ids.push_back(*id);
    if (*id != chunk.ids[i]) {
      return malformed(field("[1]"), std::to_string(*id),
                       std::to_string(chunk.ids[i]) + " (the id in output_ids)");
    }
    const auto logprob = logprob_of(parts->logprob);
    if (!logprob) return malformed(field("[0]"), found(parts->logprob), kALogprob);
    chunk.logprobs.push_back(*logprob);
  }
  return {};
}

Status AnswerReader::read_top_logprobs(const Value& list, const Counts& counts, TokenChunk& chunk) {
  const auto form = form_of(list, kTopLogprobs, counts, top_logprobs_form_);
  if (!form.ok()) return form.error();
  top_logprobs_form_ = *form;
  const std::uint64_t repeated = top_logprobs_form_ == Form::kAll ? counts.seen : 0;
  auto at = list.begin();
  for (std::uint64_t i = 0; i < repeated; ++i) ++at;
  for (std::uint64_t i = 0; i < counts.fresh(); ++i, ++at) {
    const auto field = entry(kTopLogprobs, repeated + i);
    const Value entries = (*at).value;
    auto& tops = chunk.top_logprobs.emplace_back();
    if (entries.is_null()) continue;
    if (!entries.is_array() || entries.size() > kMaxTopLogprobs)
      return malformed(field, found(entries), "a list of [logprob, id, text or null]");
    for (const auto& member : entries) {
      const auto parts = logprob_entry(member.value);
      if (!parts) return malformed(field, found(member.value), "[logprob, id, text or null]");
      const auto id = token_id(parts->id, kTopLogprobs, repeated + i);
      if (!id.ok()) return id.error();
      const auto logprob = logprob_of(parts->logprob);
      if (!logprob) return malformed(field, found(parts->logprob), kALogprob);
      tops.push_back({*id, *logprob});
    }
  }
  return {};
}

void AnswerReader::remember(const Lists& lists, const Counts& counts, const TokenChunk& chunk) {
  const auto all = [&](const std::optional<Value>& list) {
    if (!list || list->size() != counts.total) return std::string_view();
    return list->raw().substr(0, list->raw().size() - 1);
  };
  all_ids_ = counts.total > 0 ? all(lists.ids) : std::string_view();
  all_logprobs_ = counts.total > 0 ? all(lists.logprobs) : std::string_view();
  ids_.insert(ids_.end(), chunk.ids.begin(), chunk.ids.end());
  logprobs_.insert(logprobs_.end(), chunk.logprobs.begin(), chunk.logprobs.end());
}

Result<TokenEnd> AnswerReader::finish() {
  if (!finish_) {
    return malformed("meta_info.finish_reason", "none at the end of the answer", "stop or length");
  }
  TokenEnd end;
  end.finish = std::move(*finish_);
  end.prompt_tokens = prompt_tokens_;
  end.completion_tokens = ids_.size();
  end.cached_tokens = cached_tokens_;
  end.weight_versions = std::move(weights_);
  return end;
}

}  // namespace verbatim::engine::sglang
