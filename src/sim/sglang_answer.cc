#include <array>
#include <utility>

#include "json/writer.h"
#include "sim/sampler.h"
#include "sim/sglang_face.h"

namespace verbatim::sim {
namespace {

constexpr std::array kStreamings = {
    std::pair{Streaming::kCumulative, std::string_view("cumulative")},
    std::pair{Streaming::kIncremental, std::string_view("incremental")},
    std::pair{Streaming::kMixed, std::string_view("mixed")}};

std::string spelled(double value) {
  std::string out;
  json::append_double(out, value);
  return out;
}

void append_finish(std::string& out, const Finish& finish, std::size_t ids) {
  json::Writer w;
  w.begin_object().field("type", finish.type);
  if (finish.type == "length") w.field("length", std::uint64_t{ids});
  if (finish.type == "abort") {
    w.field("message", "aborted by request").key("status_code").null().key("err_type").null();
  }
  if (finish.type == "stop") {
    w.key("matched");
    if (finish.matched_string) {
      w.string(*finish.matched_string);
    } else if (finish.matched_id) {
      w.unsigned_integer(*finish.matched_id);
    } else {
      w.null();
    }
  }
  w.end_object();
  out += w.text();
}

}  // namespace

std::string_view name(Streaming streaming) {
  for (const auto& [each, text] : kStreamings) {
    if (each == streaming) return text;
  }
  return {};
}

std::optional<Streaming> streaming_named(std::string_view text) {
  for (const auto& [streaming, each] : kStreamings) {
    if (each == text) return streaming;
  }
  return std::nullopt;
}

Answer::Answer(const tokenizer::Tokenizer& tokenizer, const GenerateCall& call,
               const Completion& done, Setup setup)
    : call_(call),
      setup_(setup),
      finish_(done.finish),
      plain_ids_(done.ids),
      prompt_tokens_(call.prompt.size()),
      has_logprobs_(call.logprobs),
      has_finish_(!done.finish.type.empty()) {
  for (std::size_t i = 0; i < done.ids.size(); ++i) {
    ids_.push_back(std::to_string(done.ids[i]));
    if (call.logprobs) logprobs_.push_back(spelled(done.logprobs[i]));
  }
  decode(tokenizer, done.ids, call.skips_special);
}

void Answer::decode(const tokenizer::Tokenizer& tokenizer, const TokenIds& ids,
                    bool skips_special) {
  tokenizer::IncrementalDecoder decoder(tokenizer);
  for (const TokenId id : ids) {
    const auto* added = tokenizer.added(id);
    if (!skips_special || added == nullptr || !added->special) decoder.feed(id, text_);
    text_ends_.push_back(text_.size());
  }
  decoder.finish(text_);
  if (!text_ends_.empty()) text_ends_.back() = text_.size();
}

bool Answer::apply(Fault fault, std::uint64_t at) {
  if (fault == Fault::kNullFinish) {
    has_finish_ = false;
    return true;
  }
  if (fault == Fault::kCountOffByOne) {
    extra_count_ = 1;
    return true;
  }
  if (fault == Fault::kWrongPromptTokens) {
    --prompt_tokens_;
    return true;
  }
  if (ids_.empty()) return false;
  if (fault == Fault::kTrimmedStop) {
    if (!finish_.matched_id) return false;
    ids_.pop_back();
    plain_ids_.pop_back();
    if (!logprobs_.empty()) logprobs_.pop_back();
    return true;
  }
  std::string& id = ids_[at % ids_.size()];
  if (fault == Fault::kIdOutOfRange) id = std::to_string(setup_.vocab_size + at % 100000);
  if (fault == Fault::kIdNegative) id = "-1";
  if (fault == Fault::kIdString) id = "\"" + id + "\"";
  if (fault == Fault::kIdBool) id = "true";
  if (fault >= Fault::kIdOutOfRange && fault <= Fault::kIdBool) return true;
  if (!has_logprobs_) return false;
  if (fault == Fault::kNoOutputIds) has_ids_ = false;
  if (fault == Fault::kNoLogprobs) has_logprobs_ = false;
  if (fault == Fault::kShortLogprobs) logprobs_cut_ = 1;
  if (fault == Fault::kNanLogprob) logprobs_[at % ids_.size()] = "NaN";
  if (fault == Fault::kNullLogprob) logprobs_[at % ids_.size()] = "null";
  return fault >= Fault::kNoOutputIds && fault <= Fault::kNullLogprob;
}

void Answer::append_ids(std::string& out, std::size_t from, std::size_t to) const {
  out += ",\"output_ids\":[";
  for (std::size_t i = from; i < to; ++i) {
    if (i != from) out += ',';
    out += ids_[i];
  }
  out += ']';
}

void Answer::append_logprobs(std::string& out, std::size_t from, std::size_t to, bool last) const {
  if (last && to - from >= logprobs_cut_) to -= logprobs_cut_;
  out += ",\"output_token_logprobs\":[";
  for (std::size_t i = from; i < to; ++i) {
    if (i != from) out += ',';
    out.append("[").append(logprobs_[i]).append(",").append(ids_[i]).append(",null]");
  }
  out += ']';
}

void Answer::append_top_logprobs(std::string& out, std::size_t from, std::size_t to) const {
  out += ",\"output_top_logprobs\":[";
  for (std::size_t i = from; i < to; ++i) {
    out += i == from ? "[" : ",[";
    for (std::uint64_t rank = 0; rank < call_.top_logprobs; ++rank) {
      const auto other = static_cast<TokenId>((plain_ids_[i] + rank) % setup_.vocab_size);
      const double below = rank == 0 ? 0 : 8 + logprob(setup_.seed, i, other);
      out += rank == 0 ? "[" : ",[";
      out += rank == 0 ? logprobs_[i] : spelled(-16 - static_cast<double>(rank) + below / 16);
      out.append(",").append(std::to_string(other)).append(",null]");
    }
    out += ']';
  }
  out += ']';
}

void Answer::append_meta(std::string& out, std::size_t from, std::size_t to, const Finish* finish,
                         std::string_view weight_version) const {
  out += ",\"meta_info\":{\"id\":";
  json::append_string(out, call_.rid);
  out += ",\"finish_reason\":";
  if (finish != nullptr && has_finish_) {
    append_finish(out, *finish, to);
  } else {
    out += "null";
  }
  const auto count = to + (finish != nullptr ? extra_count_ : 0);
  out += ",\"prompt_tokens\":" + std::to_string(prompt_tokens_);
  out += ",\"completion_tokens\":" + std::to_string(count);
  out += ",\"cached_tokens\":0,\"total_retractions\":0,\"weight_version\":";
  json::append_string(out, weight_version);
  if (has_logprobs_) {
    const auto first = setup_.streaming == Streaming::kIncremental ? from : 0;
    append_logprobs(out, first, to, finish != nullptr);
    if (call_.top_logprobs > 0) append_top_logprobs(out, first, to);
  }
  out += ",\"e2e_latency\":0.01}";
}

std::string Answer::event(std::size_t from, std::size_t to, const Finish* finish,
                          std::string_view weight_version) const {
  const auto first = setup_.streaming == Streaming::kCumulative ? 0 : from;
  std::string out = "{\"text\":";
  const std::string_view text(text_);
  const auto begin = first == 0 ? 0 : text_ends_[first - 1];
  const auto end = to == 0 ? 0 : text_ends_[to - 1];
  json::append_string(out, text.substr(begin, end - begin));
  if (has_ids_) append_ids(out, first, to);
  if (call_.echoes_prompt) {
    out += ",\"prompt_token_ids\":[";
    for (std::size_t i = 0; i < call_.prompt.size(); ++i) {
      if (i != 0) out += ',';
      out += std::to_string(call_.prompt[i]);
    }
    out += ']';
  }
  append_meta(out, from, to, finish, weight_version);
  return out += '}';
}

}  // namespace verbatim::sim
