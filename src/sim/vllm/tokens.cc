#include "sim/vllm/tokens.h"

#include "json/writer.h"
#include "sim/sampler.h"

namespace verbatim::sim::vllm {
namespace {

std::string named(std::string_view spelled_id, TokenId id, TokenNames names,
                  const tokenizer::Tokenizer& tokenizer) {
  if (names == TokenNames::kIntegers) return "\"token_id\":" + std::string(spelled_id);
  std::string text = "token_id:" + std::string(spelled_id);
  if (names == TokenNames::kText) text = token_text(tokenizer, id);
  std::string out = "\"token\":";
  json::append_string(out, text);
  return out;
}

// What stands behind the logprob.
std::string described(const Ranked& entry, TokenNames names,
                      const tokenizer::Tokenizer& tokenizer) {
  if (names == TokenNames::kIntegers) return ",\"rank\":" + std::to_string(entry.rank);
  if (names == TokenNames::kStrings) return ",\"bytes\":null";
  return ",\"bytes\":" + bytes_json(token_text(tokenizer, entry.id));
}

}  // namespace

std::string logprobs_json(const Spelling& spelling, const GenerateCall& call,
                          const tokenizer::Tokenizer& tokenizer, TokenNames names,
                          const Part& part) {
  if (!spelling.has_logprobs) return "null";
  std::size_t to = part.to;
  if (part.finish != nullptr && to - part.from >= spelling.logprobs_cut)
    to -= spelling.logprobs_cut;
  const std::size_t count = std::max<std::size_t>(1, call.top_logprobs);
  std::string out = R"({"content":[)";
  for (std::size_t i = part.from; i < to; ++i) {
    const auto entries =
        ranked(spelling.plain_ids[i], spelling.values[i], count, spelling.vocab_size);
    const auto own = named(spelling.logprob_ids[i], entries[0].id, names, tokenizer) +
                     ",\"logprob\":" + spelling.logprobs[i] +
                     described(entries[0], names, tokenizer);
    out.append(i == part.from ? "{" : ",{").append(own).append(",\"top_logprobs\":[{").append(own);
    for (std::size_t e = 1; e < entries.size(); ++e) {
      const auto& entry = entries[e];
      out.append("},{").append(named(std::to_string(entry.id), entry.id, names, tokenizer));
      out.append(",\"logprob\":").append(spelled(entry.logprob));
      out.append(described(entry, names, tokenizer));
    }
    out += "}]}";
  }
  return out + "]}";
}

std::string prompt_logprobs_json(const TokenIds& prompt, std::uint64_t beside, std::uint64_t seed,
                                 const tokenizer::Tokenizer& tokenizer, std::uint64_t vocab_size) {
  json::Writer w;
  w.begin_array().null();
  for (std::size_t i = 1; i < prompt.size(); ++i) {
    w.begin_object();
    const auto entries = ranked(prompt[i], logprob(seed, i, prompt[i]), 1 + beside, vocab_size);
    for (const auto& entry : entries) {
      w.key(std::to_string(entry.id)).begin_object().field("logprob", entry.logprob);
      w.field("rank", entry.rank).field("decoded_token", token_text(tokenizer, entry.id));
      w.end_object();
    }
    w.end_object();
  }
  w.end_array();
  return w.take();
}

std::string usage_json(UsageForm form, std::uint64_t prompt, std::uint64_t completion) {
  std::string out = "{\"prompt_tokens\":" + std::to_string(prompt) +
                    ",\"total_tokens\":" + std::to_string(prompt + completion) +
                    ",\"completion_tokens\":" + std::to_string(completion);
  if (form == UsageForm::kLastFrame)
    return out + R"(,"prompt_tokens_details":{"cached_tokens":0}})";
  if (form == UsageForm::kOld) return out + R"(,"prompt_tokens_details":null})";
  out += R"(,"prompt_tokens_details":)";
  out += form == UsageForm::kFrame
             ? "null"
             : R"({"cached_tokens":0,"created_cache_tokens":null,"multimodal_tokens":null})";
  return out + R"(,"completion_tokens_details":null})";
}

std::string stop_reason_json(const Finish* finish, std::optional<TokenId> own_stop_id) {
  json::Writer w;
  if (finish != nullptr && finish->matched_string) {
    w.string(*finish->matched_string);
  } else if (finish != nullptr && finish->matched_id && finish->matched_id != own_stop_id) {
    w.unsigned_integer(*finish->matched_id);
  } else {
    w.null();
  }
  return w.take();
}

std::string finish_reason_json(const Finish* finish, const Spelling& spelling) {
  if (finish == nullptr || !spelling.has_finish) return "null";
  std::string out;
  json::append_string(out, finish->type);
  return out;
}

}  // namespace verbatim::sim::vllm
