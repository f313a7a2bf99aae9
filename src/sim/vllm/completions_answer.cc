#include "sim/vllm/completions_answer.h"

#include <algorithm>

#include "json/writer.h"
#include "sim/vllm/errors.h"
#include "sim/vllm/tokens.h"

namespace verbatim::sim::vllm {
namespace {

// Made up: nobody measures a simulation.
constexpr std::string_view kMetrics =
    R"({"time_to_first_token_ms":12.5,"generation_time_ms":25.0,"queue_time_ms":0.05,)"
    R"("mean_itl_ms":12.5,"tokens_per_second":80.5)";
constexpr std::string_view kFingerprint = "\"vllm-0.32.0-51b0f4ce\"";

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

CompletionsAnswer::CompletionsAnswer(Spelling spelling, const Request& request, AnswerSetup setup)
    : Answer(std::move(spelling)),
      request_(request),
      setup_(std::move(setup)),
      text_end_(spelling_.text.size()) {
  const auto& matched = spelling_.finish.matched_string;
  if (matched && !request.keeps_stop_string)
    text_end_ = std::min(text_end_, spelling_.text.find(*matched));
}

std::string CompletionsAnswer::head() const {
  std::string out = R"({"id":)";
  json::append_string(out, setup_.id);
  out +=
      R"(,"object":"text_completion","created":)" + std::to_string(setup_.created) + ",\"model\":";
  json::append_string(out, setup_.model);
  return out;
}

std::string CompletionsAnswer::shown_text(const Part& part) const {
  const std::string_view text = spelling_.text_of(part.from, part.to);
  const std::size_t begin = part.from == 0 ? 0 : spelling_.text_ends[part.from - 1];
  std::string out;
  json::append_string(out,
                      begin >= text_end_ ? std::string_view() : text.substr(0, text_end_ - begin));
  return out;
}

std::string CompletionsAnswer::token_name(std::size_t at) const {
  if (request_.names_ids) return "token_id:" + spelling_.logprob_ids[at];
  return token_text(setup_.tokenizer, spelling_.plain_ids[at]);
}

std::string CompletionsAnswer::logprobs(const Part& part) const {
  if (!spelling_.has_logprobs) return "null";
  std::size_t offset = 0;
  for (std::size_t i = 0; i < part.from; ++i) offset += characters(token_name(i));
  const std::size_t cut = part.finish != nullptr ? spelling_.logprobs_cut : 0;
  std::string offsets, values, names, tops;
  for (std::size_t i = part.from; i + cut < part.to; ++i) {
    const char* comma = i == part.from ? "" : ",";
    const std::string name = token_name(i);
    offsets.append(comma).append(std::to_string(offset));
    offset += characters(name);
    values.append(comma).append(spelling_.logprobs[i]);
    names += comma;
    json::append_string(names, name);
    tops.append(comma).append("{");
    json::append_string(tops, name);
    tops.append(":").append(spelling_.logprobs[i]);
    const auto k = request_.call.top_logprobs;
    const auto entries = ranked(spelling_.plain_ids[i], spelling_.values[i],
                                static_cast<std::size_t>(k) + 1, spelling_.vocab_size);
    for (std::size_t e = 1; e < entries.size(); ++e) {
      if (entries[e].rank > k) continue;
      tops += ',';
      json::append_string(tops, request_.names_ids ? "token_id:" + std::to_string(entries[e].id)
                                                   : token_text(setup_.tokenizer, entries[e].id));
      tops.append(":").append(spelled(entries[e].logprob));
    }
    tops += '}';
  }
  return "{\"text_offset\":[" + offsets + "],\"token_logprobs\":[" + values + "],\"tokens\":[" +
         names + "],\"top_logprobs\":[" + tops + "]}";
}

std::string CompletionsAnswer::middle(const Part& part) const {
  return "\"logprobs\":" + logprobs(part) +
         ",\"finish_reason\":" + finish_reason_json(part.finish, spelling_) +
         ",\"stop_reason\":" + stop_reason_json(part.finish, setup_.stop_id);
}

std::string CompletionsAnswer::ids(const Part& part) const {
  if (!request_.call.echoes_prompt) return ",\"token_ids\":null";
  if (!spelling_.has_ids) return {};
  std::string out = ",\"token_ids\":[";
  append_joined(out, spelling_.ids, part.from, part.to);
  return out + "]";
}

std::string CompletionsAnswer::prompt_ids() const {
  if (!request_.call.echoes_prompt) return "null";
  TokenIds seen = request_.call.prompt;
  seen.resize(spelling_.prompt_tokens);
  return "[" + joined(seen) + "]";
}

std::uint64_t CompletionsAnswer::counted(std::size_t ids) const {
  return ids * request_.call.samples + spelling_.extra_count;
}

HttpReply CompletionsAnswer::whole(const Part& part) const {
  const bool newest = setup_.profile.newest_fields;
  std::string out = head() + ",\"choices\":[";
  for (std::uint64_t i = 0; i < request_.call.samples; ++i) {
    out += (i == 0 ? "{\"index\":" : ",{\"index\":") + std::to_string(spelling_.index + i) +
           ",\"text\":" + shown_text(part) + "," + middle(part) + ids(part) +
           ",\"prompt_logprobs\":null,\"prompt_token_ids\":" + prompt_ids();
    if (newest) out += ",\"routed_experts\":null";
    out += '}';
  }
  out += R"(],"service_tier":null,"system_fingerprint":)";
  out += newest ? kFingerprint : "null";
  out += ",\"usage\":" +
         usage_json(newest ? UsageForm::kWhole : UsageForm::kOld, spelling_.prompt_tokens,
                    counted(part.to)) +
         ",\"kv_transfer_params\":null";
  if (newest)
    out.append(R"(,"ec_transfer_params":null,"metrics":)")
        .append(kMetrics)
        .append(R"(,"speculative_decoding":null})");
  return {200, {}, out + "}"};
}

std::string CompletionsAnswer::events(const Part& part) const {
  std::string out;
  for (std::uint64_t i = 0; i < request_.call.samples; ++i) {
    const bool first = part.from == 0 && part.to != 0;
    std::string frame = head() + ",\"choices\":[{\"index\":" + std::to_string(spelling_.index + i) +
                        ",\"text\":" + shown_text(part) + "," + middle(part) +
                        ",\"prompt_token_ids\":" + (first ? prompt_ids() : "null") + ids(part) +
                        "}]";
    if (request_.continuous_usage)
      frame += ",\"usage\":" + usage_json(UsageForm::kFrame, spelling_.prompt_tokens, part.to);
    out += sse(frame + "}");
  }
  return out;
}

std::string CompletionsAnswer::closing_events() const {
  if (!request_.include_usage) return {};
  std::string frame = head() + ",\"choices\":[],\"usage\":" +
                      usage_json(UsageForm::kLastFrame, spelling_.prompt_tokens, counted(size()));
  if (setup_.profile.newest_fields)
    frame.append(",\"system_fingerprint\":")
        .append(kFingerprint)
        .append(",\"metrics\":")
        .append(kMetrics)
        .append("}");
  return sse(frame + "}");
}

HttpReply CompletionsAnswer::refusal(int status, std::string_view message) const {
  return {status, {}, error_json(status, error_type(status), std::nullopt, message)};
}

std::string CompletionsAnswer::error_event(int status, std::string_view message) const {
  return vllm::error_event(status, error_type(status), message);
}

}  // namespace verbatim::sim::vllm
