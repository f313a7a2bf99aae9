#include "sim/dynamo/answer.h"

#include <algorithm>
#include <charconv>

#include "json/writer.h"
#include "sim/dynamo/errors.h"
#include "sim/ranked.h"

namespace verbatim::sim::dynamo {
namespace {

// As serde prints a float: -2 is -2.0.
std::string with_point(std::string text) {
  const bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? text + ".0" : text;
}

std::string float32(double value) {
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  return with_point(std::string(text, written.ptr));
}

// The logprob of id `at` as a float; spoilt ones as they are.
std::string float32_of(const Spelling& spelling, std::size_t at) {
  const bool spoilt = spelling.logprobs[at] != spelled(spelling.values[at]);
  return spoilt ? spelling.logprobs[at] : float32(spelling.values[at]);
}

std::string finish_name(const Finish& finish) {
  return finish.type == "abort" ? "stop" : finish.type;
}

std::size_t shown_logprobs(const Spelling& spelling, const Part& part) {
  const std::size_t cut = part.finish != nullptr ? spelling.logprobs_cut : 0;
  return part.to - part.from >= cut ? part.to - cut : part.to;
}

}  // namespace

ChatAnswer::ChatAnswer(Spelling spelling, const Request& request, AnswerSetup setup)
    : Answer(std::move(spelling)),
      request_(request),
      setup_(std::move(setup)),
      text_end_(spelling_.text.size()) {
  const auto& finish = spelling_.finish;
  if (finish.matched_string && !request.keeps_stop_string)
    text_end_ = std::min(text_end_, spelling_.text.find(*finish.matched_string));
  // The id that ended it is in no text, whatever skip_special_tokens says.
  if (finish.matched_id && size() > 0)
    text_end_ = size() == 1 ? 0 : spelling_.text_ends[size() - 2];
}

bool ChatAnswer::completes(const Part& part) const {
  return part.finish != nullptr && spelling_.has_finish && !part.finish->matched_string;
}

std::string ChatAnswer::text(const Part& part) const {
  const std::size_t begin = part.from == 0 ? 0 : spelling_.text_ends[part.from - 1];
  if (begin >= text_end_) return {};
  return std::string(spelling_.text_of(part.from, part.to).substr(0, text_end_ - begin));
}

std::string ChatAnswer::finish_reason(const Part& part) const {
  if (part.finish == nullptr || !spelling_.has_finish) return "null";
  std::string out;
  json::append_string(out, finish_name(*part.finish));
  return out;
}

std::string ChatAnswer::named_text(std::string_view spelled_id, TokenId id) const {
  if (request_.names_ids) return "token_id:" + std::string(spelled_id);
  return token_text(setup_.tokenizer, id);
}

std::string ChatAnswer::logprobs(const Part& part) const {
  if (!spelling_.has_logprobs || part.from == part.to) return "null";
  const std::size_t to = shown_logprobs(spelling_, part);
  const std::uint64_t least = setup_.profile.zero_tops_is_one ? 1 : 0;
  const std::uint64_t count = std::max(least, request_.top_logprobs.value_or(1));
  std::string out = R"({"content":[)";
  for (std::size_t i = part.from; i < to; ++i) {
    const TokenId id = spelling_.plain_ids[i];
    const std::string name = named_text(spelling_.logprob_ids[i], id);
    const bool hidden = spelling_.finish.matched_id && i + 1 == size() && !request_.names_ids;
    out += i == part.from ? R"({"token":)" : R"(,{"token":)";
    json::append_string(out, hidden ? std::string_view() : std::string_view(name));
    out += ",\"logprob\":" + float32_of(spelling_, i);
    if (setup_.profile.logprobs_name_ids) out += ",\"token_id\":" + spelling_.logprob_ids[i];
    out += ",\"bytes\":" + (hidden ? "null" : bytes_json(name)) + ",\"top_logprobs\":[";
    const auto entries = ranked(id, spelling_.values[i], count, spelling_.vocab_size);
    for (std::size_t e = 0; e < std::min<std::size_t>(count, entries.size()); ++e) {
      const std::string other =
          e == 0 ? name : named_text(std::to_string(entries[e].id), entries[e].id);
      out += e == 0 ? R"({"token":)" : R"(,{"token":)";
      json::append_string(out, other);
      out += ",\"logprob\":" + (e == 0 ? float32_of(spelling_, i) : float32(entries[e].logprob)) +
             ",\"bytes\":" + bytes_json(other) + "}";
    }
    out += "]}";
  }
  return out + R"(],"refusal":null})";
}

std::string ChatAnswer::choice(const Part& part, Form form) const {
  const Profile& profile = setup_.profile;
  const std::string shown = text(part);
  std::string content;
  json::append_string(content, shown);
  std::string out = "{\"index\":" + std::to_string(spelling_.index);
  if (form == Form::kWhole) {
    out += ",\"message\":{\"content\":" + (shown.empty() ? "null" : content);
    out += profile.writes_nulls ? R"(,"role":"assistant","reasoning_content":null})"
                                : R"(,"refusal":null,"role":"assistant"})";
  } else {
    const bool role = profile.repeats_role || part.from == 0;
    out += ",\"delta\":{";
    if (!shown.empty()) out += "\"content\":" + content + (role ? "," : "");
    if (role) out += R"("role":"assistant")";
    out += '}';
  }
  return out + ",\"finish_reason\":" + finish_reason(part) + ",\"logprobs\":" + logprobs(part) +
         "}";
}

std::string ChatAnswer::usage(std::size_t to, bool stops_by_text) const {
  const auto completion = to + spelling_.extra_count;
  std::string out = "{\"prompt_tokens\":" + std::to_string(spelling_.prompt_tokens) +
                    ",\"completion_tokens\":" + std::to_string(completion) +
                    ",\"total_tokens\":" + std::to_string(spelling_.prompt_tokens + completion);
  if (!stops_by_text)
    out += setup_.profile.writes_nulls
               ? R"(,"prompt_tokens_details":{"audio_tokens":null,"cached_tokens":0})"
               : R"(,"prompt_tokens_details":{"cached_tokens":0})";
  return out + "}";
}

std::string ChatAnswer::engine_data(std::size_t to) const {
  TokenIds seen = request_.call.prompt;
  seen.resize(spelling_.prompt_tokens);
  std::string out = "{\"prompt_token_ids\":[" + joined(seen) + "]";
  if (spelling_.has_ids) {
    out += ",\"completion_token_ids\":[";
    append_joined(out, spelling_.ids, 0, to);
    out += ']';
  }
  out += ",\"finished\":true";
  if (spelling_.has_logprobs) {
    out += ",\"completion_logprobs\":[";
    const std::size_t count = std::max(to, spelling_.logprobs_cut) - spelling_.logprobs_cut;
    for (std::size_t i = 0; i < count; ++i)
      out.append(i == 0 ? "" : ",").append(with_point(spelling_.logprobs[i]));
    out += ']';
  }
  if (!spelling_.routed_experts.empty()) out += ",\"routed_experts\":" + spelling_.routed_experts;
  return out + "}";
}

std::string ChatAnswer::nvext(const Part& part, Form form) const {
  const Extras& asked = request_.extras;
  std::string members;
  const auto add = [&](std::string_view name, const std::string& value) {
    members.append(members.empty() ? "\"" : ",\"").append(name).append("\":").append(value);
  };
  const auto add_ids = [&] {
    if (!asked.completion_ids || part.from == part.to || !spelling_.has_ids) return;
    std::string ids = "[";
    append_joined(ids, spelling_.ids, part.from, part.to);
    add("completion_token_ids", ids + "]");
  };
  const bool completes_now = completes(part);
  const std::string worker = std::to_string(kWorkerId);
  if (asked.worker_id)
    add("worker_id", "{\"prefill_worker_id\":" + worker + ",\"decode_worker_id\":" + worker + "}");
  const bool early = form == Form::kWhole || part.finish == nullptr;
  if (early) add_ids();
  constexpr std::string_view kPrefill =
      R"("prefill_wait_time_ms":0.25,"prefill_time_ms":4.5,"ttft_ms":4.75,)";
  if (asked.timing && completes_now)
    add("timing", "{\"request_received_ms\":" + std::to_string(setup_.now_ms) + "," +
                      std::string(setup_.profile.times_prefill ? kPrefill : "") +
                      "\"total_time_ms\":5.25}");
  if (asked.routed_experts && completes_now && !spelling_.routed_experts.empty())
    add("routed_experts", spelling_.routed_experts);
  if (asked.engine_data && completes_now && spelling_.has_engine_data)
    add("engine_data", engine_data(part.to));
  if (asked.stop_reason && part.finish != nullptr && part.finish->matched_string) {
    std::string matched;
    json::append_string(matched, *part.finish->matched_string);
    add("stop_reason", matched);
  } else if (asked.stop_reason && part.finish != nullptr && part.finish->matched_id) {
    add("stop_reason", std::to_string(*part.finish->matched_id));
  }
  if (!early) add_ids();
  if (asked.prompt_ids && completes_now) {
    TokenIds seen = request_.call.prompt;
    seen.resize(spelling_.prompt_tokens);
    add("prompt_token_ids", "[" + joined(seen) + "]");
  }
  return members.empty() ? members : ",\"nvext\":{" + members + "}";
}

std::string ChatAnswer::head(std::string_view choices, std::string_view object) const {
  std::string out = R"({"id":)";
  json::append_string(out, setup_.id);
  out.append(",\"choices\":[").append(choices);
  out += "],\"created\":" + std::to_string(setup_.now_ms / 1000) + ",\"model\":";
  json::append_string(out, setup_.model);
  if (setup_.profile.writes_nulls) out += R"(,"service_tier":null,"system_fingerprint":null)";
  return out.append(",\"object\":\"").append(object).append("\"");
}

HttpReply ChatAnswer::whole(const Part& part) const {
  std::string out = head(choice(part, Form::kWhole), "chat.completion");
  // A worker that ended without a finish reason is not counted either.
  if (spelling_.has_finish)
    out += ",\"usage\":" + usage(part.to, part.finish->matched_string.has_value());
  return {200, {}, out + nvext(part, Form::kWhole) + "}"};
}

// Comment lines, in this order whatever the order of the request.
std::string ChatAnswer::annotations() const {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    const auto& asked = request_.annotations;
    if (std::find(asked.begin(), asked.end(), name) == asked.end()) return;
    out.append("event: ").append(name).append("\n: ");
    json::append_string(out, value);
    out += "\n\n";
  };
  add("request_id", setup_.id.substr(setup_.id.find('-') + 1));
  add("formatted_prompt", setup_.tokenizer.decode(request_.call.prompt));
  add("token_ids", "[" + joined(request_.call.prompt) + "]");
  return out;
}

std::string ChatAnswer::events(const Part& part) const {
  std::string chunk = head(choice(part, Form::kChunk), "chat.completion.chunk");
  if (request_.continuous_usage) {
    chunk += ",\"usage\":" + usage(part.to, false);
  } else if (setup_.profile.writes_nulls) {
    chunk += ",\"usage\":null";
  }
  const std::string said = sse(chunk + nvext(part, Form::kChunk) + "}");
  return part.from == 0 ? annotations() + said : said;
}

std::string ChatAnswer::closing_events() const {
  if (!request_.include_usage) return {};
  const bool by_text = spelling_.finish.matched_string.has_value();
  return sse(head("", "chat.completion.chunk") + ",\"usage\":" + usage(size(), by_text) + "}");
}

HttpReply ChatAnswer::refusal(int status, std::string_view message) const {
  if (!request_.call.stream) return flat_error(status, message);
  const int named = setup_.profile.keeps_error_codes ? status : 500;
  return {200,
          {{"Content-Type", std::string(stream_type())}},
          dynamo::error_event(named, message) + sse("[DONE]")};
}

std::string ChatAnswer::error_event(int status, std::string_view message) const {
  return dynamo::error_event(setup_.profile.keeps_error_codes ? status : 500, message);
}

std::string GenerateAnswer::logprobs(const Part& part) const {
  if (!spelling_.has_logprobs) return "null";
  const std::size_t count = std::max<std::uint64_t>(1, request_.top_logprobs.value_or(1));
  std::string out = R"({"content":[)";
  const auto append = [&](const std::string& id, const std::string& value) {
    const std::string name = "token_id:" + id;
    out += R"({"token":)";
    json::append_string(out, name);
    out += ",\"logprob\":" + value + ",\"bytes\":" + bytes_json(name);
  };
  for (std::size_t i = part.from; i < shown_logprobs(spelling_, part); ++i) {
    // Floats of 32 bits, printed as those of 64.
    const bool spoilt = spelling_.logprobs[i] != spelled(spelling_.values[i]);
    const std::string own =
        spoilt ? spelling_.logprobs[i]
               : with_point(spelled(static_cast<double>(static_cast<float>(spelling_.values[i]))));
    if (i != part.from) out += ',';
    append(spelling_.logprob_ids[i], own);
    out += ",\"top_logprobs\":[";
    append(spelling_.logprob_ids[i], own);
    const auto entries =
        ranked(spelling_.plain_ids[i], spelling_.values[i], count, spelling_.vocab_size);
    for (std::size_t e = 1; e < entries.size(); ++e) {
      out += "},";
      append(std::to_string(entries[e].id), with_point(spelled(entries[e].logprob)));
    }
    out += "}]}";
  }
  return out + "]}";
}

HttpReply GenerateAnswer::whole(const Part& part) const {
  if (!spelling_.has_finish) return refusal(500, "internal server error");
  std::string out = R"({"request_id":)";
  json::append_string(out, setup_.id);
  out += ",\"choices\":[{\"index\":" + std::to_string(spelling_.index);
  if (spelling_.has_ids) {
    out += ",\"token_ids\":[";
    append_joined(out, spelling_.ids, part.from, part.to);
    out += ']';
  }
  out += ",\"logprobs\":" + logprobs(part) + ",\"finish_reason\":";
  json::append_string(out, part.finish->type);
  out += ",\"routed_experts\":" +
         (spelling_.routed_experts.empty() ? "null" : spelling_.routed_experts);
  if (setup_.profile.sampling_mask) out += ",\"sampling_mask\":null";
  return {200, {}, out + R"(}],"prompt_logprobs":null,"kv_transfer_params":null})"};
}

HttpReply GenerateAnswer::whole_aborted(const Part&) const {
  return nested_error(499, "request_cancelled", "request was cancelled");
}

HttpReply GenerateAnswer::refusal(int status, std::string_view message) const {
  const char* type = status == 503   ? "service_unavailable"
                     : status == 400 ? "invalid_request_error"
                                     : "internal_error";
  return nested_error(status, type, message);
}

}  // namespace verbatim::sim::dynamo
