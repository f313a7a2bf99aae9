#include "engine/dynamo/answer_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/fields.h"
#include "engine/upstream.h"

namespace verbatim::engine::dynamo {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr const char* kIds = "nvext.completion_token_ids";
constexpr const char* kEntries = "choices[0].logprobs.content";
constexpr const char* kFinish = "choices[0].finish_reason";
constexpr std::size_t kMaxTopLogprobs = 1024;
// Speculative decoding may sample past the limit by the length of one draft.
constexpr std::uint64_t kOvershoot = 64;
// What to do where nvext is missing.
constexpr const char* kRemedy =
    " (a frontend with DYN_DISABLE_FRONTEND_NVEXT set drops it, and the prompt's ids with it: "
    "unset "
    "it there)";
// What to say where nvext is there, but nothing of the worker's in it.
constexpr const char* kOtherWorker =
    " (this worker does not send any; Dynamo's vLLM worker does, since 1.4)";

std::optional<TokenId> id_of(const Value& token) {
  return token.is_string() ? named_id(token.string()) : std::nullopt;
}

}  // namespace

AnswerReader::AnswerReader(Sent sent) : sent_(std::move(sent)) {
  for (const auto& piece : sent_.prompt) prompt_tokens_ += piece.size();
}

Result<TokenChunk> AnswerReader::feed(std::string_view data) {
  auto document = parse_answer(std::string(data), "");
  if (!document.ok()) return std::move(document).error();
  const Value root = document->root();
  if (!root.is_object()) return malformed("", found(root), "a JSON object");
  if (is_error_body(root)) {
    engine_is_done_ = true;
    return reported_error(root);
  }
  if (auto status = read(root); !status.ok()) return std::move(status).error();
  return give_out();
}

Status AnswerReader::read(const Value& root) {
  if (auto status = read_usage(root); !status.ok()) return status;
  const auto nvext = root.get("nvext");
  if (nvext && !nvext->is_object()) return malformed("nvext", found(*nvext), "an object");
  // Ids first: what comes beside them is compared with them.
  if (nvext) {
    if (auto status = read_nvext(*nvext); !status.ok()) return status;
  }
  const auto choices = root.get("choices");
  if (!choices || !choices->is_array() || choices->size() > 1)
    return malformed("choices", found(choices), "a list of one choice, or none");
  if (!choices->empty()) {
    if (auto status = read_choice(*choices); !status.ok()) return status;
  }
  const auto engine_data = nvext ? nvext->get("engine_data") : std::nullopt;
  return engine_data ? read_engine_data(*engine_data) : Status();
}

Status AnswerReader::read_usage(const Value& root) {
  const auto usage = root.get("usage");
  if (!usage) return {};
  const auto prompt = member_in(*usage, "prompt_tokens");
  if (!prompt || count_of(*prompt) != prompt_tokens_) {
    std::string expected = std::to_string(prompt_tokens_) + " (ids sent)";
    if (ids_.empty() && !root.get("nvext")) expected += kRemedy;
    return malformed("usage.prompt_tokens", found(prompt), expected);
  }
  prompt_is_proved_ = true;
  const auto completion = member_in(*usage, "completion_tokens");
  completion_tokens_ = completion ? count_of(*completion) : std::nullopt;
  if (!completion_tokens_)
    return malformed("usage.completion_tokens", found(completion), "a count");
  const auto details = member_in(*usage, "prompt_tokens_details");
  const auto cached = details ? member_in(*details, "cached_tokens") : std::nullopt;
  if (!cached) return {};
  cached_tokens_ = count_of(*cached);
  if (cached_tokens_) return {};
  return malformed("usage.prompt_tokens_details.cached_tokens", found(*cached), "a count");
}

Status AnswerReader::read_nvext(const Value& nvext) {
  if (const auto ids = nvext.get("completion_token_ids")) {
    if (auto status = read_ids(*ids); !status.ok()) return status;
  }
  const auto reason = nvext.get("stop_reason");
  return reason ? read_stop_reason(*reason) : Status();
}

Status AnswerReader::read_ids(const Value& list) {
  if (!list.is_array()) return malformed(kIds, found(list), "a list of ids");
  if (finish_ && !list.empty())
    return malformed(kIds, found(list) + " behind the finish reason", "none");
  for (const auto& member : list) {
    const auto id = token_id(member.value, kIds, ids_.size(), sent_.vocab_size);
    if (!id.ok()) return id.error();
    ids_.push_back(*id);
  }
  if (ids_.size() <= sent_.max_new_tokens + kOvershoot) return {};
  return malformed(kIds, std::to_string(ids_.size()) + " ids",
                   "at most " + std::to_string(sent_.max_new_tokens) + " (max_completion_tokens)");
}

Status AnswerReader::read_stop_reason(const Value& reason) {
  // A string is one that was not asked for, a list a sequence of several ids: neither names an id.
  if (!reason.is_number()) return {};
  const auto id = token_id(reason, "nvext.stop_reason", 0, sent_.vocab_size);
  if (!id.ok()) return malformed("nvext.stop_reason", found(reason), "a token id");
  stop_id_ = *id;
  return {};
}

Status AnswerReader::read_choice(const Value& choices) {
  const Value choice = (*choices.begin()).value;
  const auto index = member_in(choice, "index");
  if (!index || !is_id(*index, 0))
    return malformed("choices[0].index", found(index), "0 (one completion)");
  if (const auto logprobs = choice.get("logprobs")) {
    const auto content = member_in(*logprobs, "content");
    if (content) {
      if (auto status = read_logprobs(*content); !status.ok()) return status;
    }
  }
  const auto reason = choice.get("finish_reason");
  return reason ? read_finish(*reason) : Status();
}

Status AnswerReader::read_finish(const Value& reason) {
  if (finish_) return malformed(kFinish, found(reason) + " once more", "one finish reason");
  EngineFinish read;
  if (reason.is_string()) read.raw = reason.string();
  if (read.raw == "length") {
    read.kind = EngineFinish::Kind::kLength;
  } else if (read.raw != "stop") {
    return malformed(kFinish, found(reason), "stop or length");
  }
  finish_ = std::move(read);
  engine_is_done_ = true;
  return {};
}

Status AnswerReader::read_logprobs(const Value& list) {
  if (!list.is_array()) return malformed(kEntries, found(list), "a list of entries");
  for (const auto& member : list) {
    if (auto status = read_entry(member.value, logprobs_.size()); !status.ok()) return status;
  }
  return {};
}

Status AnswerReader::read_entry(const Value& item, std::uint64_t at) {
  if (at >= ids_.size()) {
    return malformed(kIds, std::to_string(ids_.size()) + " ids",
                     "one for each logprob that was shown" + std::string(kRemedy));
  }
  if (auto status = check_entry_id(item, at); !status.ok()) return status;
  const auto logprob =
      sampled_logprob(member_in(item, "logprob"), entry(kEntries, at) + ".logprob");
  if (!logprob.ok()) return logprob.error();
  logprobs_.push_back(*logprob);
  return read_top_logprobs(item, at);
}

// Releases before 1.5 don't say an entry's id unless asked to name tokens by id. Where no id is
// said, the rounding of the exact logprobs tells entries apart.
Status AnswerReader::check_entry_id(const Value& item, std::uint64_t at) const {
  const auto id = member_in(item, "token_id");
  if (id && !is_id(*id, ids_[at])) {
    return malformed(entry(kEntries, at) + ".token_id", found(*id),
                     std::to_string(ids_[at]) + " (as in " + kIds + ")");
  }
  const auto token = member_in(item, "token");
  const auto named = token ? id_of(*token) : std::nullopt;
  if (!named || *named == ids_[at]) return {};
  return malformed(entry(kEntries, at) + ".token", found(*token),
                   std::to_string(ids_[at]) + " (as in " + kIds + ")");
}

Status AnswerReader::read_top_logprobs(const Value& item, std::uint64_t at) {
  auto& tops = top_logprobs_.emplace_back();
  if (!sent_.wants_top_logprobs) return {};
  const std::string field = entry(kEntries, at) + ".top_logprobs";
  const auto list = item.get("top_logprobs");
  if (!list) return {};
  if (!list->is_array() || list->size() > kMaxTopLogprobs)
    return malformed(field, found(*list), "a list of alternatives");
  for (const auto& member : *list) {
    const auto token = member_in(member.value, "token");
    const auto id = token ? id_of(*token) : std::nullopt;
    if (!id || *id >= sent_.vocab_size) {
      return malformed(
          entry(field, tops.size()) + ".token", found(token),
          "\"token_id:\" and an id below the vocabulary's " + std::to_string(sent_.vocab_size));
    }
    const auto written = member_in(member.value, "logprob");
    const auto logprob = written ? logprob_of(*written) : std::nullopt;
    if (!logprob)
      return malformed(entry(field, tops.size()) + ".logprob", found(written), kALogprob);
    tops.push_back({*id, *logprob});
  }
  return {};
}

TokenChunk AnswerReader::give_out() {
  const std::size_t end = std::min(ids_.size(), logprobs_.size());
  const auto from = static_cast<std::ptrdiff_t>(given_);
  const auto to = static_cast<std::ptrdiff_t>(end);
  TokenChunk chunk;
  chunk.ids.assign(ids_.begin() + from, ids_.begin() + to);
  chunk.logprobs.assign(logprobs_.begin() + from, logprobs_.begin() + to);
  if (sent_.wants_top_logprobs)
    chunk.top_logprobs.assign(top_logprobs_.begin() + from, top_logprobs_.begin() + to);
  given_ = end;
  return chunk;
}

Result<TokenEnd> AnswerReader::finish() {
  if (!finish_) return malformed(kFinish, "none at the end of the answer", "stop or length");
  if (!exact_) {
    return malformed("nvext.engine_data", "nothing",
                     std::string("the worker's data") + (ids_.empty() ? kRemedy : kOtherWorker));
  }
  if (exact_->size() != ids_.size()) {
    return malformed("nvext.engine_data", std::to_string(exact_->size()) + " ids",
                     "all " + std::to_string(ids_.size()));
  }
  if (completion_tokens_ != ids_.size()) {
    return malformed(
        "usage.completion_tokens",
        completion_tokens_ ? std::to_string(*completion_tokens_) : std::string("nothing"),
        std::to_string(ids_.size()) + " (ids received)");
  }
  if (auto status = check_finish(); !status.ok()) return std::move(status).error();
  TokenEnd end = end_of(ids_.size());
  end.finish = *finish_;
  if (stop_id_ && !ids_.empty() && ids_.back() == *stop_id_) end.finish.matched_id = stop_id_;
  end.exact_logprobs = std::move(*exact_);
  return end;
}

Status AnswerReader::check_finish() const {
  if (finish_->kind != EngineFinish::Kind::kStop) return {};
  if (!ids_.empty() && stop_id_ == ids_.back()) return {};
  if (std::find_first_of(ids_.begin(), ids_.end(), sent_.stop_ids.begin(), sent_.stop_ids.end()) !=
      ids_.end())
    return {};
  return malformed(kFinish, "stop behind " + std::to_string(ids_.size()) + " ids without a stop id",
                   "a stop id among them (Dynamo says stop of cancelled generations too)");
}

Result<TokenEnd> AnswerReader::cut() {
  if (prompt_is_proved_) return end_of(given_);
  return malformed("usage.prompt_tokens", "nothing",
                   std::to_string(prompt_tokens_) + " (ids sent)");
}

TokenEnd AnswerReader::end_of(std::size_t ids) const {
  TokenEnd end;
  end.prompt_tokens = prompt_tokens_;
  end.completion_tokens = ids;
  end.cached_tokens = cached_tokens_;
  return end;
}

}  // namespace verbatim::engine::dynamo
