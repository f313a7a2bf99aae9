#include <cmath>
#include <utility>

#include "engine/sglang/answer_reader.h"
#include "engine/upstream.h"

// The lists of an event: ids, logprobs, alternatives.
namespace verbatim::engine::sglang {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr const char* kIds = "output_ids";
constexpr const char* kLogprobs = "meta_info.output_token_logprobs";
constexpr const char* kTopLogprobs = "meta_info.output_top_logprobs";
constexpr const char* kAnEntry = "[logprob, id, text or null]";
constexpr std::size_t kMaxTopLogprobs = 1024;

Value::Iterator behind(const Value& list, std::uint64_t count) {
  auto at = list.begin();
  for (; count > 0; --count) ++at;
  return at;
}

}  // namespace

Status AnswerReader::read_lists(const Lists& lists, const Counts& counts, const Cuts& cuts,
                                TokenChunk& chunk) {
  const auto is_cut = [&](RepeatedMembers::Member m) { return cuts[m].has_value(); };
  if (lists.ids) {
    auto status = read_ids(*lists.ids, counts, is_cut(RepeatedMembers::kIds), chunk);
    if (!status.ok()) return status;
  }
  if (lists.logprobs) {
    auto status = read_logprobs(*lists.logprobs, counts, is_cut(RepeatedMembers::kLogprobs), chunk);
    if (!status.ok()) return status;
  } else if (counts.fresh() > 0) {
    return malformed(kLogprobs, "nothing", std::to_string(counts.fresh()) + " entries");
  }
  const bool tops_cut = is_cut(RepeatedMembers::kTopLogprobs);
  if (!lists.top_logprobs ||
      (lists.top_logprobs->is_array() && lists.top_logprobs->empty() && !tops_cut))
    return {};
  return read_top_logprobs(*lists.top_logprobs, counts, tops_cut, chunk);
}

Result<AnswerReader::Window> AnswerReader::window(const Value& list, const char* field,
                                                  const Counts& counts, bool is_cut,
                                                  std::optional<Form>& form) {
  if (is_cut) {
    if (form == Form::kAll && list.is_array() && list.size() == counts.fresh())
      return Window{0, counts.seen};
    return malformed(field, found(list), std::to_string(counts.fresh()) + " new entries");
  }
  auto told = form_of(list, field, counts, form);
  if (!told.ok()) return std::move(told).error();
  form = *told;
  return Window{form == Form::kAll ? counts.seen : 0, 0};
}

Status AnswerReader::read_ids(const Value& list, const Counts& counts, bool is_cut,
                              TokenChunk& chunk) {
  const auto in = window(list, kIds, counts, is_cut, state_.ids_form);
  if (!in.ok()) return in.error();
  chunk.ids.reserve(counts.fresh());
  std::uint64_t i = 0;
  for (const auto& member : list) {
    const std::uint64_t at = i++;
    if (at < in->skip) {
      if (is_id(member.value, ids_[at])) continue;
      return malformed(entry(kIds, at), found(member.value),
                       std::to_string(ids_[at]) + " (as in the event before)");
    }
    const auto id = token_id(member.value, kIds, in->cut + at, sent_.vocab_size);
    if (!id.ok()) return id.error();
    chunk.ids.push_back(*id);
  }
  return {};
}

std::uint64_t AnswerReader::same_logprobs(const Value& list) const {
  auto at = list.begin();
  for (std::uint64_t i = 0; i < ids_.size(); ++i, ++at) {
    const auto parts = logprob_entry((*at).value);
    if (!parts || !is_id(parts->id, ids_[i]) || !parts->logprob.is_number() ||
        parts->logprob.number() != logprobs_[i])
      return i;
  }
  return ids_.size();
}

Status AnswerReader::check_repeated(const Value& list, const Counts& counts,
                                    std::optional<Form> before) const {
  // A list that repeats must repeat to the last digit: else one of the two was wrong, and one is
  // recorded.
  if (state_.logprobs_form == Form::kAll) {
    const std::uint64_t same = same_logprobs(list);
    if (same == counts.seen) return {};
    return malformed(entry(kLogprobs, same), excerpt((*behind(list, same)).value.raw()),
                     "the same as in the event before");
  }
  // The one case in which lengths do not tell the forms apart (see AnswerReader). It needs at
  // least as many new entries as old ones, and nothing known of the form.
  const bool first_told = state_.logprobs_form == Form::kNew && before != Form::kNew;
  if (!first_told || sent_.streams_new_only || counts.fresh() < counts.seen) return {};
  if (same_logprobs(list) < counts.seen) return {};
  return malformed(kLogprobs,
                   "the entries of the event before, and completion_tokens that count them twice",
                   std::to_string(counts.total) + " entries");
}

Status AnswerReader::read_logprobs(const Value& list, const Counts& counts, bool is_cut,
                                   TokenChunk& chunk) {
  const auto before = state_.logprobs_form;
  const auto in = window(list, kLogprobs, counts, is_cut, state_.logprobs_form);
  if (!in.ok()) return in.error();
  if (!is_cut) {
    if (auto status = check_repeated(list, counts, before); !status.ok()) return status;
  }
  // Releases without output_ids name the ids here only.
  const bool ids_known = chunk.ids.size() == counts.fresh();
  chunk.logprobs.reserve(counts.fresh());
  auto at = behind(list, in->skip);
  for (std::uint64_t i = 0; i < counts.fresh(); ++i, ++at) {
    const std::uint64_t index = in->cut + in->skip + i;
    const auto parts = logprob_entry((*at).value);
    if (!parts) return malformed(entry(kLogprobs, index), found((*at).value), kAnEntry);
    const auto id = token_id(parts->id, kLogprobs, index, sent_.vocab_size);
    if (!id.ok()) return id.error();
    if (!ids_known) chunk.ids.push_back(*id);
    if (*id != chunk.ids[i]) {
      return malformed(entry(kLogprobs, index) + "[1]", std::to_string(*id),
                       std::to_string(chunk.ids[i]) + " (the id in output_ids)");
    }
    const auto logprob = logprob_of(parts->logprob);
    if (!logprob)
      return malformed(entry(kLogprobs, index) + "[0]", found(parts->logprob), kALogprob);
    chunk.logprobs.push_back(*logprob);
  }
  return {};
}

Status AnswerReader::read_top_logprobs(const Value& list, const Counts& counts, bool is_cut,
                                       TokenChunk& chunk) {
  const auto in = window(list, kTopLogprobs, counts, is_cut, state_.top_logprobs_form);
  if (!in.ok()) return in.error();
  auto at = behind(list, in->skip);
  for (std::uint64_t i = 0; i < counts.fresh(); ++i, ++at) {
    const std::uint64_t index = in->cut + in->skip + i;
    const Value entries = (*at).value;
    auto& tops = chunk.top_logprobs.emplace_back();
    if (entries.is_null()) continue;
    if (!entries.is_array() || entries.size() > kMaxTopLogprobs)
      return malformed(entry(kTopLogprobs, index), found(entries), "a list of entries");
    for (const auto& member : entries) {
      const auto parts = logprob_entry(member.value);
      if (!parts) return malformed(entry(kTopLogprobs, index), found(member.value), kAnEntry);
      const auto id = token_id(parts->id, kTopLogprobs, index, sent_.vocab_size);
      if (!id.ok()) return id.error();
      const auto logprob = logprob_of(parts->logprob);
      if (!logprob) return malformed(entry(kTopLogprobs, index), found(parts->logprob), kALogprob);
      tops.push_back({*id, *logprob});
    }
  }
  return {};
}

}  // namespace verbatim::engine::sglang
