#include "sim/sglang/answer.h"

#include "chat/parsers/token_parser.h"
#include "json/writer.h"
#include "message/fold.h"
#include "sim/sampler.h"

namespace verbatim::sim::sglang {
namespace {

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

std::string error_json(std::string_view message) {
  json::Writer w;
  w.begin_object().key("error").begin_object().field("message", message).end_object().end_object();
  return w.take();
}

void GenerateAnswer::append_logprobs(std::string& out, std::size_t from, std::size_t to,
                                     bool last) const {
  if (last && to - from >= spelling_.logprobs_cut) to -= spelling_.logprobs_cut;
  out += ",\"output_token_logprobs\":[";
  for (std::size_t i = from; i < to; ++i) {
    if (i != from) out += ',';
    out.append("[")
        .append(spelling_.logprobs[i])
        .append(",")
        .append(spelling_.logprob_ids[i])
        .append(",null]");
  }
  out += ']';
}

void GenerateAnswer::append_top_logprobs(std::string& out, std::size_t from, std::size_t to) const {
  out += ",\"output_top_logprobs\":[";
  for (std::size_t i = from; i < to; ++i) {
    out += i == from ? "[" : ",[";
    for (std::uint64_t rank = 0; rank < call_.top_logprobs; ++rank) {
      const auto other =
          static_cast<TokenId>((spelling_.plain_ids[i] + rank) % spelling_.vocab_size);
      const double below = rank == 0 ? 0 : 8 + logprob(setup_.seed, i, other);
      out += rank == 0 ? "[" : ",[";
      out +=
          rank == 0 ? spelling_.logprobs[i] : spelled(-16 - static_cast<double>(rank) + below / 16);
      out.append(",").append(std::to_string(other)).append(",null]");
    }
    out += ']';
  }
  out += ']';
}

void GenerateAnswer::append_meta(std::string& out, const Part& part) const {
  out += ",\"meta_info\":{\"id\":";
  json::append_string(out, call_.rid);
  out += ",\"finish_reason\":";
  if (part.finish != nullptr && spelling_.has_finish) {
    append_finish(out, *part.finish, part.to);
  } else {
    out += "null";
  }
  const auto count = part.to + (part.finish != nullptr ? spelling_.extra_count : 0);
  out += ",\"prompt_tokens\":" + std::to_string(spelling_.prompt_tokens);
  out += ",\"completion_tokens\":" + std::to_string(count);
  out += ",\"cached_tokens\":0,\"total_retractions\":0,\"weight_version\":";
  json::append_string(out, part.weights.back().version);
  if (setup_.profile.weight_spans) append_weights(out, part);
  if (spelling_.has_logprobs) {
    const auto first = setup_.streaming == Streaming::kIncremental ? part.from : 0;
    append_logprobs(out, first, part.to, part.finish != nullptr);
    if (call_.top_logprobs > 0) append_top_logprobs(out, first, part.to);
  }
  out += ",\"e2e_latency\":0.01}";
}

void GenerateAnswer::append_weights(std::string& out, const Part& part) const {
  json::Writer w;
  w.begin_array();
  for (std::size_t i = 0; i < part.weights.size(); ++i) {
    const bool last = i + 1 == part.weights.size();
    w.begin_object().field("version", part.weights[i].version);
    w.field("start", std::uint64_t{part.weights[i].start});
    w.field("end", std::uint64_t{last ? part.to : part.weights[i + 1].start}).end_object();
  }
  w.end_array();
  out.append(",\"weight_versions\":").append(w.text());
}

std::string GenerateAnswer::body(const Part& part) const {
  const auto first = setup_.streaming == Streaming::kCumulative ? 0 : part.from;
  std::string out = "{\"text\":";
  json::append_string(out, spelling_.text_of(first, part.to));
  if (spelling_.has_ids) {
    out += ",\"output_ids\":[";
    append_joined(out, spelling_.ids, first, part.to);
    out += ']';
  }
  if (call_.echoes_prompt) out += ",\"prompt_token_ids\":[" + joined(call_.prompt) + "]";
  append_meta(out, part);
  return out += '}';
}

HttpReply GenerateAnswer::whole(const Part& part) const {
  std::string answer = body(part);
  if (call_.samples > 1) {
    std::string list = "[" + answer;
    for (std::uint64_t i = 1; i < call_.samples; ++i) list.append(",").append(answer);
    answer = list + "]";
  }
  return {200, {}, std::move(answer)};
}

std::string GenerateAnswer::events(const Part& part) const {
  return sse(body(part));
}

HttpReply GenerateAnswer::refusal(int status, std::string_view message) const {
  return {status, {}, error_json(message)};
}

std::string GenerateAnswer::error_event(int, std::string_view message) const {
  return sse(error_json(message));
}

HttpReply ChatAnswer::whole(const Part& part) const {
  const auto* grammar = chat::parsers::grammar_named("hermes");
  const chat::parsers::TokenMarkers markers(tokenizer_, *grammar, call().limits.stop_ids);
  chat::parsers::TokenParser parser(
      markers, {.reasoning_open = markers.reasoning_open(call().prompt), .tools = true},
      call().limits.stop_strings);
  message::Events events;
  parser.feed(std::span(spelling_.plain_ids).subspan(part.from, part.to - part.from), events);
  const bool cut = part.finish != nullptr && part.finish->type == "length";
  const auto finish =
      parser.finish(cut ? message::FinishReason::kLength : message::FinishReason::kStop, events);
  const auto message = message::fold(events).to_message();

  json::Writer w;
  w.begin_object().field("id", call().rid).field("object", "chat.completion");
  w.field("created", 1).field("model", "default").key("choices").begin_array().begin_object();
  w.field("index", 0).key("message").begin_object().field("role", "assistant");
  w.field("content", message.text).key("reasoning_content");
  message.reasoning ? w.string(*message.reasoning) : w.null();
  w.key("tool_calls");
  if (message.tool_calls.empty()) {
    w.null();
  } else {
    w.begin_array();
    std::uint64_t index = 0;
    for (const auto& each : message.tool_calls) {
      w.begin_object().field("id", "call_" + call().rid).field("index", index++);
      w.field("type", "function").key("function").begin_object().field("name", each.name);
      w.field("arguments", each.arguments).end_object().end_object();
    }
    w.end_array();
  }
  w.end_object().key("logprobs").null().key("finish_reason");
  if (!spelling_.has_finish) {
    w.null();
  } else {
    const bool aborted = part.finish != nullptr && part.finish->type == "abort";
    w.string(aborted ? "abort" : message::name(finish));
  }
  w.key("matched_stop").null();
  std::string out = w.take();
  if (call().echoes_prompt) out += ",\"prompt_token_ids\":[" + joined(call().prompt) + "]";
  if (chat_.names_ids) {
    out += ",\"token_ids\":[";
    append_joined(out, spelling_.ids, part.from, part.to);
    out += ']';
  }
  if (chat_.tells_meta) append_meta(out, part);
  out += "}],\"usage\":{\"prompt_tokens\":" + std::to_string(spelling_.prompt_tokens) +
         ",\"completion_tokens\":" + std::to_string(part.to) + "}}";
  return {200, {}, std::move(out)};
}

}  // namespace verbatim::sim::sglang
