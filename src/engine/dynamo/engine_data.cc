#include <string>
#include <utility>

#include "engine/dynamo/answer_reader.h"
#include "engine/fields.h"

// nvext.engine_data: what the worker itself says at the end, which the frontend passes on as it is.
namespace verbatim::engine::dynamo {
namespace {

using base::Status;
using json::Value;

constexpr const char* kData = "nvext.engine_data";
constexpr const char* kPrompt = "nvext.engine_data.prompt_token_ids";
constexpr const char* kIds = "nvext.engine_data.completion_token_ids";
constexpr const char* kLogprobs = "nvext.engine_data.completion_logprobs";

// The frontend shows logprobs as 32-bit floats.
bool rounds_to(double exact, double shown) {
  return static_cast<float>(exact) == static_cast<float>(shown);
}

}  // namespace

Status AnswerReader::read_engine_data(const Value& data) {
  if (!data.is_object()) return malformed(kData, found(data), "an object");
  const auto finished = data.get("finished");
  if (finished && !(finished->is_bool() && finished->boolean()))
    return malformed("nvext.engine_data.finished", found(*finished), "true");
  if (auto status = check_prompt(data); !status.ok()) return status;
  if (auto status = check_all_ids(data); !status.ok()) return status;
  return read_exact_logprobs(data);
}

Status AnswerReader::check_prompt(const Value& data) const {
  const auto list = data.get("prompt_token_ids");
  return list ? check_echo(*list, kPrompt, sent_.prompt) : Status();
}

Status AnswerReader::check_all_ids(const Value& data) const {
  const auto list = data.get("completion_token_ids");
  if (!list || !list->is_array() || list->size() != ids_.size()) {
    return malformed(kIds, found(list),
                     "the " + std::to_string(ids_.size()) + " ids of the events");
  }
  std::uint64_t i = 0;
  for (const auto& member : *list) {
    if (!is_id(member.value, ids_[i])) {
      return malformed(entry(kIds, i), found(member.value),
                       std::to_string(ids_[i]) + " (as in the events)");
    }
    ++i;
  }
  return {};
}

Status AnswerReader::read_exact_logprobs(const Value& data) {
  const auto list = data.get("completion_logprobs");
  // A worker that lacks one logprob leaves out all of them.
  if (!list || !list->is_array() || list->size() != ids_.size())
    return malformed(kLogprobs, found(list), std::to_string(ids_.size()) + " logprobs");
  std::vector<double> exact;
  exact.reserve(ids_.size());
  for (const auto& member : *list) {
    const auto i = exact.size();
    const auto logprob = sampled_logprob(member.value, entry(kLogprobs, i));
    if (!logprob.ok()) return logprob.error();
    if (i < logprobs_.size() && !rounds_to(*logprob, logprobs_[i])) {
      return malformed(entry(kLogprobs, i), found(member.value),
                       "what rounds to the " + std::to_string(logprobs_[i]) + " shown before");
    }
    exact.push_back(*logprob);
  }
  // What no event has shown.
  logprobs_.insert(logprobs_.end(), exact.begin() + static_cast<std::ptrdiff_t>(logprobs_.size()),
                   exact.end());
  top_logprobs_.resize(logprobs_.size());
  exact_ = std::move(exact);
  return {};
}

}  // namespace verbatim::engine::dynamo
