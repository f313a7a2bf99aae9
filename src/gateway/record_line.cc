#include "gateway/record_line.h"

#include "gateway/segments.h"
#include "json/writer.h"
#include "message/fold.h"
#include "protocol/chat_history.h"

namespace verbatim::gateway {
namespace {

using json::Writer;
using trajectory::Turn;

void write_ids(Writer& w, std::string_view key, const trajectory::TokenIds& ids) {
  w.key(key).begin_array();
  for (const auto id : ids) w.unsigned_integer(id);
  w.end_array();
}

void write_logprobs(Writer& w, std::string_view key, const std::vector<double>& values) {
  w.key(key).begin_array();
  for (const double value : values) w.number(value);
  w.end_array();
}

// The whitelist of the format, absent ones left out.
void write_sampling(Writer& w, const message::Sampling& s) {
  w.key("sampling").begin_object();
  if (s.temperature) w.field("temperature", *s.temperature);
  if (s.top_p) w.field("top_p", *s.top_p);
  if (s.top_k) w.field("top_k", *s.top_k);
  if (s.min_p) w.field("min_p", *s.min_p);
  if (s.max_tokens) w.field("max_tokens", *s.max_tokens);
  if (s.frequency_penalty) w.field("frequency_penalty", *s.frequency_penalty);
  if (s.presence_penalty) w.field("presence_penalty", *s.presence_penalty);
  if (s.repetition_penalty) w.field("repetition_penalty", *s.repetition_penalty);
  if (s.seed) w.field("seed", *s.seed);
  if (!s.stop.empty()) {
    w.key("stop").begin_array();
    for (const auto& stop : s.stop) w.string(stop);
    w.end_array();
  }
  w.end_object();
}

void write_place(Writer& w, const Turn& turn) {
  w.field("turn", std::to_string(turn.id));
  w.key("parent_turn");
  turn.parent ? w.string(std::to_string(turn.parent->id)) : w.null();
  w.field("branch", std::to_string(turn.branch));
  w.key("attach")
      .begin_object()
      .field("kind", turn.parent ? "child" : "root")
      .field("reason", turn.attach.reason);
  w.field("ambiguous", turn.attach.ambiguous)
      .field("trim", static_cast<std::uint64_t>(turn.parent_trim))
      .end_object();
}

// Null where the engine did not render. Observed only: the ids of a turn are never the engine's.
void write_skew(json::Writer& w, const Turn& turn) {
  w.key("render_skew");
  if (!turn.render_skew) {
    w.null();
    return;
  }
  const auto& skew = *turn.render_skew;
  const bool equal = skew.common == skew.sent && skew.common == skew.rendered;
  w.begin_object().field("equal", equal).key("first_divergence");
  equal ? w.null() : w.unsigned_integer(skew.common);
  w.field("rendered_tokens", skew.rendered).end_object();
}

void write_weights(Writer& w, const Turn& turn) {
  w.key("weight_version");
  turn.weight_versions.empty() ? w.null() : w.string(turn.weight_versions.back().version);
  w.key("weight_versions").begin_array();
  for (const auto& span : turn.weight_versions)
    w.begin_object().field("version", span.version).field("begin", span.begin).end_object();
  w.end_array();
  w.key("cached_tokens");
  turn.cached_tokens ? w.unsigned_integer(*turn.cached_tokens) : w.null();
}

void write_timings(Writer& w, const Turn& turn) {
  w.key("timings")
      .begin_object()
      .field("received_ms", turn.times.received_ms)
      .field("first_token_us", turn.times.first_token_us);
  w.field("total_us", turn.times.total_us).end_object();
}

// In place of ids: the messages that the turn added, the tools of its root, and what the engine
// counted.
void write_messages(Writer& w, const Turn& turn) {
  w.key("messages").begin_array();
  for (const auto& message : turn.messages) protocol::write_history_message(w, message);
  w.end_array().key("tools").begin_array();
  for (const auto& tool : turn.root->tools) w.raw(tool.raw);
  w.end_array().key("usage");
  if (!turn.usage) {
    w.null();
    return;
  }
  w.begin_object().field("prompt_tokens", turn.usage->prompt_tokens);
  w.field("completion_tokens", turn.usage->completion_tokens).end_object();
}

}  // namespace

std::string assistant_message_json(const message::Message& message) {
  Writer w;
  w.begin_object().field("role", "assistant").key("content");
  message.text.empty() ? w.null() : w.string(message.text);
  if (message.reasoning) w.field("reasoning_content", *message.reasoning);
  if (!message.tool_calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto& call : message.tool_calls) {
      w.begin_object()
          .field("id", call.id)
          .field("type", "function")
          .key("function")
          .begin_object();
      w.field("name", call.name).field("arguments", call.arguments).end_object().end_object();
    }
    w.end_array();
  }
  w.end_object();
  return w.take();
}

bool extends_row(const Turn& turn, std::uint64_t written) {
  for (const auto* at = &turn; at->parent; at = at->parent.get()) {
    if (at->parent->id == written) return at->parent_trim == 0;
  }
  return false;
}

std::string record_line(const trajectory::TurnPtr& turn, const RecordPlace& place) {
  Writer w;
  w.begin_object().field("schema_version", "tito.record.v1").field("session_id", turn->session_id);
  if (!turn->thread_id.empty()) w.field("thread_id", turn->thread_id);
  w.field("request_id", turn->request_id).field("turn_index", place.turn_index);
  w.field("ts", static_cast<double>(turn->times.committed_ms) / 1000.0);
  w.field("model", turn->root->model).field("backend_kind", turn->engine_kind);
  write_sampling(w, turn->sampling);
  w.key("tokenizer")
      .begin_object()
      .field("checkpoint", place.checkpoint)
      .field("tokenizer_sha256", turn->root->tokenizer);
  w.field("chat_template_sha256", turn->root->chat_template).end_object();
  write_ids(w, "prompt_token_ids", trajectory::prompt_of(turn));
  w.key("prompt_segments");
  write_segments(w, turn);
  write_ids(w, "completion_token_ids", turn->completion);
  write_logprobs(w, "completion_logprobs", turn->logprobs);
  w.key("assistant_message").raw(assistant_message_json(turn->answer));
  w.field("finish_reason", message::name(turn->finish)).field("prefix_stable", place.prefix_stable);
  write_skew(w, *turn);
  write_place(w, *turn);
  w.key("spans");
  write_spans(w, turn->spans);
  w.field("token_exact", turn->token_exact);
  if (!turn->token_exact) write_messages(w, *turn);
  if (!turn->engine_url.empty()) w.field("engine_url", turn->engine_url);
  if (!turn->engine_request_id.empty()) w.field("engine_request_id", turn->engine_request_id);
  w.field("engine_mode", turn->engine_mode)
      .field("engine_finish_reason", turn->engine_finish)
      .field("encoding_policy", turn->root->encoding_policy);
  w.field("family", turn->root->family).field("max_completion_tokens", turn->max_new_tokens);
  write_weights(w, *turn);
  write_ids(w, "discarded_token_ids", turn->discarded);
  if (!turn->template_kwargs.empty()) w.key("template_kwargs").raw(turn->template_kwargs);
  write_timings(w, *turn);
  w.end_object();
  return w.take();
}

std::string session_end_line(const std::string& session_id, std::uint64_t turns,
                             std::string_view reason, std::int64_t now_ms) {
  Writer w;
  w.begin_object()
      .field("schema_version", "tito.session.v1")
      .field("session_id", session_id)
      .field("turns", turns);
  w.field("reason", reason).field("ts", static_cast<double>(now_ms) / 1000.0).end_object();
  return w.take();
}

}  // namespace verbatim::gateway
