#include "sim/spelling.h"

#include "json/writer.h"

namespace verbatim::sim {
namespace {

constexpr std::uint64_t kHugeId = std::uint64_t{1} << 40;

std::string spoilt_id(Fault fault, const std::string& id, std::uint64_t beyond) {
  switch (fault) {
    case Fault::kIdOutOfRange:
      return std::to_string(beyond);
    case Fault::kIdNegative:
      return "-1";
    case Fault::kIdString:
      return "\"" + id + "\"";
    case Fault::kIdBool:
      return "true";
    case Fault::kIdNull:
      return "null";
    case Fault::kIdHuge:
      return std::to_string(kHugeId);
    default:
      return {};
  }
}

}  // namespace

std::string spelled(double value) {
  std::string out;
  json::append_double(out, value);
  return out;
}

void append_joined(std::string& out, const std::vector<std::string>& parts, std::size_t from,
                   std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    if (i != from) out += ',';
    out += parts[i];
  }
}

std::string joined(const TokenIds& ids) {
  std::string out;
  for (const TokenId id : ids) {
    if (!out.empty()) out += ',';
    out += std::to_string(id);
  }
  return out;
}

Spelling::Spelling(const tokenizer::Tokenizer& tokenizer, const GenerateCall& call,
                   const Completion& done, std::uint64_t of_vocab_size)
    : vocab_size(of_vocab_size),
      finish(done.finish),
      plain_ids(done.ids),
      values(done.logprobs),
      routed_experts(done.routed_experts),
      prompt_tokens(call.prompt.size()),
      has_logprobs(call.logprobs),
      has_finish(!done.finish.type.empty()) {
  tokenizer::IncrementalDecoder decoder(tokenizer);
  for (std::size_t i = 0; i < done.ids.size(); ++i) {
    const TokenId id = done.ids[i];
    ids.push_back(std::to_string(id));
    logprobs.push_back(spelled(done.logprobs[i]));
    const auto* added = tokenizer.added(id);
    if (!call.skips_special || added == nullptr || !added->special) decoder.feed(id, text);
    text_ends.push_back(text.size());
  }
  logprob_ids = ids;
  decoder.finish(text);
  if (!text_ends.empty()) text_ends.back() = text.size();
}

std::string_view Spelling::text_of(std::size_t from, std::size_t to) const {
  const auto begin = from == 0 ? 0 : text_ends[from - 1];
  const auto end = to == 0 ? 0 : text_ends[to - 1];
  return std::string_view(text).substr(begin, end - begin);
}

void Spelling::keep(std::size_t count) {
  ids.resize(count);
  plain_ids.resize(count);
  logprobs.resize(count);
  values.resize(count);
  logprob_ids.resize(count);
}

bool Spelling::apply(Fault fault, std::uint64_t at) {
  if (fault == Fault::kNullFinish) {
    has_finish = false;
    return true;
  }
  if (fault == Fault::kUnknownFinish) {
    finish.type = "tired";
    return true;
  }
  if (fault == Fault::kCountOffByOne) {
    extra_count = 1;
    return true;
  }
  if (fault == Fault::kWrongPromptTokens) {
    --prompt_tokens;
    return true;
  }
  if (fault == Fault::kWrongIndex) {
    index = 1;
    return true;
  }
  if (fault == Fault::kNoEngineData) {
    has_engine_data = false;
    return true;
  }
  if (ids.empty()) return false;
  if (fault == Fault::kTrimmedStop) {
    if (!finish.matched_id) return false;
    keep(ids.size() - 1);
    return true;
  }
  if (fault == Fault::kEmptyAnswer) {
    keep(0);
    finish = {"stop", {}, {}};
    return true;
  }
  const std::size_t struck = at % ids.size();
  if (const auto spoilt = spoilt_id(fault, ids[struck], vocab_size + at % 100000);
      !spoilt.empty()) {
    ids[struck] = logprob_ids[struck] = spoilt;
    return true;
  }
  if (!has_logprobs) return false;
  if (fault == Fault::kNoOutputIds) has_ids = false;
  if (fault == Fault::kNoLogprobs) has_logprobs = false;
  if (fault == Fault::kShortLogprobs) logprobs_cut = 1;
  if (fault == Fault::kNanLogprob) logprobs[struck] = "NaN";
  if (fault == Fault::kNullLogprob) logprobs[struck] = "null";
  if (fault == Fault::kStandInLogprob) logprobs[struck] = "-9999.0";
  if (fault == Fault::kWrongLogprobId)
    logprob_ids[struck] = std::to_string((plain_ids[struck] + 1) % vocab_size);
  return (fault >= Fault::kNoOutputIds && fault <= Fault::kNullLogprob) ||
         fault == Fault::kWrongLogprobId || fault == Fault::kStandInLogprob;
}

}  // namespace verbatim::sim
