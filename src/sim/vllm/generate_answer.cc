#include "sim/vllm/generate_answer.h"

#include "json/dumps.h"
#include "json/writer.h"
#include "sim/vllm/errors.h"
#include "sim/vllm/tokens.h"

namespace verbatim::sim::vllm {

std::string GenerateAnswer::weight_versions(const Part& part, Form form) const {
  if (form == Form::kFrame && part.finish == nullptr) return "null";
  std::string out = "[";
  for (std::size_t i = 0; i < part.weights.size(); ++i) {
    const auto& span = part.weights[i];
    const auto end = i + 1 < part.weights.size() ? part.weights[i + 1].start : part.to;
    out += i == 0 ? R"({"version":)" : R"(,{"version":)";
    json::append_string(out, span.version);
    out += ",\"start\":" + std::to_string(span.start) + ",\"end\":" + std::to_string(end) + "}";
  }
  return out + "]";
}

// A stream brings them once, with the finish reason (measured on 0.32).
std::string GenerateAnswer::routed_experts(const Part& part) const {
  return part.finish == nullptr || spelling_.routed_experts.empty() ? "null"
                                                                    : spelling_.routed_experts;
}

std::string GenerateAnswer::logprobs(const Part& part) const {
  const auto names = request_.text                     ? TokenNames::kText
                     : setup_.profile.integer_logprobs ? TokenNames::kIntegers
                                                       : TokenNames::kStrings;
  return logprobs_json(spelling_, request_.call, setup_.tokenizer, names, part);
}

void GenerateAnswer::append_choice(std::string& out, const Part& part, std::uint64_t index,
                                   Form form) const {
  out += "{\"index\":" + std::to_string(index) +
         ",\"finish_reason\":" + finish_reason_json(part.finish, spelling_) +
         ",\"stop_reason\":" + stop_reason_json(part.finish, setup_.stop_id);
  if (spelling_.has_ids) {
    out += ",\"token_ids\":[";
    append_joined(out, spelling_.ids, part.from, part.to);
    out += ']';
  }
  out += ",\"routed_experts\":" + routed_experts(part) +
         R"(,"sampling_mask":null,"weight_versions":)" + weight_versions(part, form);
  if (request_.text) {
    out += ",\"text\":";
    json::append_string(out, spelling_.text_of(part.from, part.to));
  }
  out += ",\"logprobs\":" + logprobs(part) + "}";
}

void GenerateAnswer::append_old_choice(std::string& out, const Part& part, std::uint64_t index,
                                       Form form) const {
  out += "{\"index\":" + std::to_string(index) + ",\"logprobs\":" + logprobs(part) +
         ",\"finish_reason\":" + finish_reason_json(part.finish, spelling_);
  if (spelling_.has_ids) {
    out += ",\"token_ids\":[";
    append_joined(out, spelling_.ids, part.from, part.to);
    out += ']';
  }
  out += ",\"routed_experts\":" + routed_experts(part);
  if (setup_.profile.weight_spans) out += ",\"weight_versions\":" + weight_versions(part, form);
  out += '}';
}

void GenerateAnswer::append_choices(std::string& out, const Part& part) const {
  const bool loses = !setup_.profile.keeps_choices && !request_.full_output;
  const std::uint64_t count = loses ? 1 : request_.call.samples;
  out += "\"choices\":[";
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    const auto index = spelling_.index + (loses ? request_.call.samples - 1 : i);
    if (setup_.profile.newest_fields) {
      append_choice(out, part, index, Form::kWhole);
    } else {
      append_old_choice(out, part, index, Form::kWhole);
    }
  }
  out += ']';
}

std::uint64_t GenerateAnswer::counted(std::size_t ids) const {
  return ids * request_.call.samples + spelling_.extra_count;
}

std::string GenerateAnswer::prompt_ids() const {
  TokenIds seen = request_.call.prompt;
  seen.resize(spelling_.prompt_tokens);
  return "[" + joined(seen) + "]";
}

HttpReply GenerateAnswer::whole(const Part& part) const {
  const Profile& profile = setup_.profile;
  std::string out = R"({"request_id":)";
  json::append_string(out, profile.names_request ? setup_.id : setup_.unrelated_id);
  if (profile.names_request) {
    out += ",\"model\":";
    json::append_string(out, setup_.model);
    out += ",\"created\":" + std::to_string(setup_.created);
  }
  const std::string prompt_logprobs =
      request_.prompt_logprobs
          ? prompt_logprobs_json(request_.call.prompt, *request_.prompt_logprobs, setup_.seed,
                                 setup_.tokenizer, spelling_.vocab_size)
          : "null";
  out += ',';
  if (profile.newest_fields) {
    out += "\"usage\":" + usage_json(UsageForm::kWhole, spelling_.prompt_tokens, counted(part.to)) +
           ",\"prompt_logprobs\":" + prompt_logprobs + ",\"prompt_token_id_logprobs\":null" +
           ",\"prompt_token_ids\":" + (request_.call.echoes_prompt ? prompt_ids() : "null") +
           R"(,"mm_placeholders":null,"metrics":null,"kv_transfer_params":null,)" +
           R"("ec_transfer_params":null,"output_mode":)" +
           (request_.text ? "\"text\"," : "\"tokens\",");
    append_choices(out, part);
    return {200, {}, out + "}"};
  }
  append_choices(out, part);
  if (profile.names_request)
    out += ",\"usage\":" + usage_json(UsageForm::kOld, spelling_.prompt_tokens, counted(part.to));
  return {
      200, {}, out + ",\"prompt_logprobs\":" + prompt_logprobs + ",\"kv_transfer_params\":null}"};
}

void GenerateAnswer::append_frame(std::string& out, const Part& part, std::uint64_t index) const {
  std::string frame = R"({"request_id":)";
  json::append_string(frame, setup_.id);
  const std::uint64_t counted_now = part.to + (part.finish != nullptr ? spelling_.extra_count : 0);
  const std::string usage =
      request_.continuous_usage
          ? usage_json(setup_.profile.newest_fields ? UsageForm::kFrame : UsageForm::kOld,
                       spelling_.prompt_tokens, counted_now)
          : "null";
  if (setup_.profile.newest_fields) {
    frame += ",\"usage\":" + usage;
    if (request_.call.echoes_prompt && part.from == 0 && part.to != 0)
      frame += ",\"prompt_token_ids\":" + prompt_ids();
    frame += R"(,"output_mode":)";
    frame += request_.text ? R"("text","choices":[)" : R"("tokens","choices":[)";
    append_choice(frame, part, index, Form::kFrame);
    frame += "]}";
  } else {
    frame += ",\"choices\":[";
    append_old_choice(frame, part, index, Form::kFrame);
    frame += "],\"usage\":" + usage + "}";
  }
  out += sse(frame);
}

std::string GenerateAnswer::events(const Part& part) const {
  std::string out;
  for (std::uint64_t i = 0; i < request_.call.samples; ++i)
    append_frame(out, part, spelling_.index + i);
  return out;
}

std::string GenerateAnswer::aborted_events(const Part& part) const {
  return setup_.profile.says_abort ? events(part) : std::string();
}

std::string GenerateAnswer::closing_events() const {
  if (!request_.include_usage) return {};
  std::string frame = R"({"request_id":)";
  json::append_string(frame, setup_.id);
  const bool newest = setup_.profile.newest_fields;
  const auto usage = usage_json(UsageForm::kLastFrame, spelling_.prompt_tokens, counted(size()));
  if (newest) {
    frame += ",\"usage\":" + usage + R"(,"output_mode":)" +
             (request_.text ? "\"text\"" : "\"tokens\"") + ",\"choices\":[]}";
  } else {
    frame += ",\"choices\":[],\"usage\":" + usage + "}";
  }
  return sse(frame);
}

HttpReply GenerateAnswer::refusal(int status, std::string_view message) const {
  return {status, {}, error_json(status, error_type(status), std::nullopt, message)};
}

std::string GenerateAnswer::error_event(int status, std::string_view message) const {
  return vllm::error_event(status, error_type(status), message);
}

std::string error_event(int status, std::string_view type, std::string_view message) {
  const auto document = json::Document::parse(error_json(status, type, std::nullopt, message));
  return sse(json::dumps(document->root()));
}

}  // namespace verbatim::sim::vllm
