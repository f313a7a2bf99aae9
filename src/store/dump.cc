#include "store/dump.h"

#include "json/writer.h"

namespace verbatim::store {
namespace {

void write_ids(json::Writer& w, std::string_view key, const trajectory::TokenIds& ids) {
  w.key(key).begin_array();
  for (const auto id : ids) w.unsigned_integer(id);
  w.end_array();
}

void write_numbers(json::Writer& w, std::string_view key, const std::vector<double>& numbers) {
  w.key(key).begin_array();
  for (const double number : numbers) w.number(number);
  w.end_array();
}

void write_message(json::Writer& w, const message::Message& message) {
  w.begin_object().field("role", message::name(message.role)).field("text", message.text);
  if (message.reasoning) w.field("reasoning", *message.reasoning);
  if (!message.name.empty()) w.field("name", message.name);
  if (!message.tool_call_id.empty()) w.field("tool_call_id", message.tool_call_id);
  w.key("calls").begin_array();
  for (const auto& call : message.tool_calls)
    w.string(call.id).string(call.name).string(call.arguments).string(call.native_id);
  w.end_array().key("unknown").begin_array();
  for (const auto& [name, raw] : message.unknown) w.string(name).string(raw);
  w.end_array().end_object();
}

void write_spans(json::Writer& w, const trajectory::Turn& turn) {
  w.key("spans").begin_array();
  for (const auto& span : turn.spans) {
    w.unsigned_integer(span.count)
        .integer(static_cast<int>(span.source))
        .unsigned_integer(span.message)
        .integer(static_cast<int>(span.field));
  }
  w.end_array();
}

}  // namespace

void append_dump(std::string& out, const SessionInfo& session) {
  const SessionSpec& spec = *session.spec;
  json::Writer w;
  w.begin_object()
      .field("session", spec.id)
      .field("number", session.number)
      .field("implicit", session.implicit)
      .field("version", session.version)
      .field("turns", session.turns)
      .field("tokens", session.tokens)
      .field("bytes", session.bytes);
  w.field("owner", spec.owner)
      .field("options", spec.options)
      .field("metadata", spec.metadata)
      .field("secret", spec.secret_hash)
      .field("created", spec.created_ms)
      .end_object();
  out += w.text();
  out += '\n';
}

void append_dump(std::string& out, const trajectory::Turn& turn) {
  json::Writer w;
  w.begin_object()
      .field("id", turn.id)
      .field("seq", turn.seq)
      .field("choice", std::uint64_t{turn.choice})
      .field("parent", turn.parent ? turn.parent->id : 0);
  w.field("model", turn.root->model)
      .field("tools", static_cast<std::uint64_t>(turn.root->tools.size()));
  w.key("messages").begin_array();
  for (const auto& message : turn.messages) write_message(w, message);
  w.end_array().key("answer");
  write_message(w, turn.answer);
  w.field("trim", static_cast<std::uint64_t>(turn.parent_trim));
  write_ids(w, "prompt", turn.prompt);
  write_spans(w, turn);
  write_ids(w, "completion", turn.completion);
  write_numbers(w, "logprobs", turn.logprobs);
  write_ids(w, "discarded", turn.discarded);
  write_numbers(w, "discarded_logprobs", turn.discarded_logprobs);
  w.field("finish", static_cast<int>(turn.finish))
      .field("engine_finish", turn.engine_finish)
      .field("closed", turn.closed)
      .field("token_exact", turn.token_exact);
  w.field("attach", turn.attach.reason)
      .field("ambiguous", turn.attach.ambiguous)
      .field("differs_at",
             std::uint64_t{turn.attach.difference ? turn.attach.difference->message : 0})
      .field("differs_in", turn.attach.difference ? turn.attach.difference->field : "")
      .field("engine_version", turn.engine_version);
  w.key("weights").begin_array();
  for (const auto& span : turn.weight_versions) w.string(span.version).unsigned_integer(span.begin);
  w.end_array()
      .field("kwargs", turn.template_kwargs)
      .field("request_id", turn.request_id)
      .field("completion_id", turn.completion_id);
  w.field("received_ms", turn.times.received_ms)
      .field("committed_ms", turn.times.committed_ms)
      .end_object();
  out += w.text();
  out += '\n';
}

void append_dump(std::string& out, const StoredResponse& response) {
  json::Writer w;
  w.begin_object().field("response", response.id).field("owner", response.owner);
  w.field("session", response.session_id).field("turn", response.turn);
  w.field("instructed", response.instructed).field("created", response.created_ms);
  w.field("body", response.body).field("input", response.input).end_object();
  out += w.text();
  out += '\n';
}

void append_dump(std::string& out, const Conversation& conversation) {
  json::Writer w;
  w.begin_object().field("conversation", conversation.id).field("owner", conversation.owner);
  w.field("created", conversation.created_ms).field("metadata", conversation.metadata);
  w.field("version", conversation.version).field("items", conversation.items);
  w.field("bytes", conversation.bytes).field("last", conversation.last);
  w.field("turn", conversation.turn).field("answered", conversation.answered);
  w.field("instructed", conversation.instructed).field("carried", conversation.carried);
  w.end_object();
  out += w.text();
  out += '\n';
}

void append_dump(std::string& out, const ConversationItem& item) {
  json::Writer w;
  w.begin_object().field("item", item.id).field("seq", item.seq).field("body", item.body);
  w.end_object();
  out += w.text();
  out += '\n';
}

}  // namespace verbatim::store
