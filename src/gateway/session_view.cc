#include "gateway/session_view.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "gateway/record_line.h"
#include "gateway/session_report.h"
#include "gateway/usage.h"
#include "json/writer.h"
#include "message/fold.h"
#include "protocol/conversation.h"

namespace verbatim::gateway {
namespace {

using json::Writer;
using store::TurnPtr;

void write_ids(Writer& w, const trajectory::TokenIds& ids) {
  w.begin_array();
  for (const auto id : ids) w.unsigned_integer(id);
  w.end_array();
}

// Each record holds its whole request, so that together they grow with the square of the turns.
constexpr std::uint64_t kMostRecordBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostPathSteps = 1'000'000;

// Of a record, about: an id is a number of up to six digits, a logprob with its id some thirty.
std::uint64_t record_bytes(const trajectory::Turn& turn) {
  return 7 * turn.row_size + 32 * turn.completion.size() + turn.path_letters.size();
}

// The last turns of a path whose records are told, and how many in front of them are not.
std::size_t left_out(const std::vector<TurnPtr>& path) {
  std::uint64_t bytes = 0;
  for (std::size_t i = path.size(); i-- > 0;) {
    bytes += record_bytes(*path[i]);
    if (bytes > kMostRecordBytes && i + 1 < path.size()) return i + 1;
  }
  return 0;
}

void write_message(Writer& w, const message::Message& message) {
  if (message.role == message::Role::kAssistant) {
    w.raw(assistant_message_json(message));
    return;
  }
  const auto parts = message::parts_of(message);
  w.begin_object().field("role", message::name(message.role)).key("content");
  parts.empty() ? w.string(message.text) : w.raw(parts);
  if (!message.tool_call_id.empty()) w.field("tool_call_id", message.tool_call_id);
  if (!message.name.empty()) w.field("name", message.name);
  for (const auto& [name, raw] : message.unknown) {
    if (name != message::kParts && !protocol::is_reserved(name)) w.key(name).raw(raw);
  }
  w.end_object();
}

void write_request(Writer& w, const TurnPtr& turn) {
  w.key("request").begin_object().field("model", turn->root->model).key("messages").begin_array();
  auto messages = trajectory::messages_of(turn);
  messages.pop_back();  // the answer, which is the response's
  for (const auto& message : messages) write_message(w, message);
  w.end_array();
  if (!turn->root->tools.empty()) {
    w.key("tools").begin_array();
    for (const auto& tool : turn->root->tools) w.raw(tool.raw);
    w.end_array();
  }
  w.key("input_ids");
  write_ids(w, trajectory::prompt_of(turn));
  // Every turn by ids is sampled with logprobs. The format has them in each request.
  w.field("logprobs", turn->token_exact).field("return_meta_info", true);
  if (turn->sampling.temperature) w.field("temperature", *turn->sampling.temperature);
  if (turn->sampling.top_p) w.field("top_p", *turn->sampling.top_p);
  w.field("max_tokens", turn->max_new_tokens);
  if (!turn->template_kwargs.empty()) w.key("chat_template_kwargs").raw(turn->template_kwargs);
  w.end_object();
}

void write_meta_info(Writer& w, const TurnPtr& turn) {
  const auto usage = usage_of(*turn);
  w.key("meta_info")
      .begin_object()
      .field("id", turn->request_id)
      .field("prompt_tokens", usage.prompt_tokens);
  w.field("completion_tokens", usage.completion_tokens);
  if (turn->cached_tokens) w.field("cached_tokens", *turn->cached_tokens);
  if (!turn->weight_versions.empty())
    w.field("weight_version", turn->weight_versions.back().version);
  w.key("finish_reason").begin_object().field("type", turn->engine_finish).end_object();
  w.key("output_token_logprobs").begin_array();
  for (std::size_t i = 0; i < turn->completion.size(); ++i) {
    w.begin_array()
        .number(turn->logprobs[i])
        .unsigned_integer(turn->completion[i])
        .null()
        .end_array();
  }
  w.end_array().end_object();
}

void write_response(Writer& w, const TurnPtr& turn) {
  const auto usage = usage_of(*turn);
  w.key("response")
      .begin_object()
      .field("id", turn->completion_id)
      .field("object", "chat.completion");
  w.field("created", turn->times.committed_ms / 1000)
      .field("model", turn->root->model)
      .key("choices")
      .begin_array()
      .begin_object();
  w.field("index", 0)
      .field("finish_reason", message::name(turn->finish))
      .key("message")
      .raw(assistant_message_json(turn->answer));
  write_meta_info(w, turn);
  w.end_object().end_array().key("usage").begin_object().field("prompt_tokens",
                                                               usage.prompt_tokens);
  w.field("completion_tokens", usage.completion_tokens)
      .field("total_tokens", usage.prompt_tokens + usage.completion_tokens)
      .end_object()
      .end_object();
}

void write_record(Writer& w, const TurnPtr& turn) {
  w.begin_object().field("timestamp", static_cast<double>(turn->times.committed_ms) / 1000.0);
  w.field("request_timestamp", static_cast<double>(turn->times.received_ms) / 1000.0);
  w.field("method", "POST").field("path", "/v1/chat/completions").field("status_code", 200);
  write_request(w, turn);
  write_response(w, turn);
  w.end_object();
}

void write_node(Writer& w, const TurnPtr& turn) {
  const std::uint64_t begin = turn->row_size - turn->completion.size();
  w.begin_object().field("id", std::to_string(turn->id)).key("parent");
  turn->parent ? w.string(std::to_string(turn->parent->id)) : w.null();
  w.field("seq", turn->seq)
      .field("choice", std::uint64_t{turn->choice})
      .field("truncated", turn->finish == message::FinishReason::kLength);
  w.field("committed_at", static_cast<double>(turn->times.committed_ms) / 1000.0);
  w.key("completion_span")
      .begin_array()
      .unsigned_integer(begin)
      .unsigned_integer(turn->row_size)
      .end_array();
  w.field("num_tokens", turn->row_size)
      .field("response_id", turn->completion_id)
      .field("request_id", turn->request_id)
      .field("finish_reason", message::name(turn->finish))
      .field("attach", turn->attach.reason);
  if (turn->attach.ambiguous) w.field("ambiguous", true);
  if (!turn->token_exact) w.field("token_exact", false);
  if (turn->attach.difference) {
    w.key("first_difference")
        .begin_object()
        .field("message", std::uint64_t{turn->attach.difference->message})
        .field("field", turn->attach.difference->field)
        .end_object();
  }
  w.end_object();
}

// Turns on the paths to all leaves.
std::uint64_t path_steps(const std::vector<TurnPtr>& turns,
                         const std::unordered_set<std::uint64_t>& parents) {
  std::unordered_map<std::uint64_t, std::uint64_t> depths;
  std::uint64_t steps = 0;
  for (const auto& turn : turns) {
    const std::uint64_t depth = turn->parent ? depths[turn->parent->id] + 1 : 1;
    depths[turn->id] = depth;
    if (!parents.contains(turn->id)) steps += depth;
  }
  return steps;
}

// The members "nodes" and "leaves" of the tree's object.
void write_tree(Writer& w, const std::vector<TurnPtr>& turns) {
  std::unordered_set<std::uint64_t> parents;
  w.key("nodes").begin_array();
  for (const auto& turn : turns) {
    if (turn->parent) parents.insert(turn->parent->id);
    write_node(w, turn);
  }
  const bool with_paths = path_steps(turns, parents) <= kMostPathSteps;
  w.end_array().key("leaves").begin_array();
  for (const auto& turn : turns) {
    if (parents.contains(turn->id)) continue;
    w.begin_object().field("node_id", std::to_string(turn->id));
    if (!with_paths) {
      w.end_object();
      continue;
    }
    w.key("path_node_ids").begin_array();
    for (const auto& node : trajectory::path_to(turn)) w.string(std::to_string(node->id));
    w.end_array().end_object();
  }
  w.end_array();
}

// What a session was made with and has used up.
void write_session(Writer& w, const store::SessionInfo& session) {
  const auto& spec = *session.spec;
  w.begin_object().field("session_id", spec.id).field("version", session.version);
  w.field("created_at", static_cast<double>(spec.created_ms) / 1000.0)
      .field("last_used_at", static_cast<double>(session.last_used_ms) / 1000.0);
  w.field("turns", session.turns).field("tokens", session.tokens).field("bytes", session.bytes);
  w.field("implicit", session.implicit).field("secret", !spec.secret_hash.empty());
  w.key("options").raw(spec.options.empty() ? "{}" : spec.options);
  w.key("metadata").raw(spec.metadata.empty() ? "{}" : spec.metadata).end_object();
}

}  // namespace

std::string session_view(const store::SessionInfo& session, const std::vector<TurnPtr>& turns,
                         unsigned max_trim) {
  Writer w;
  w.begin_object().field("session_id", session.spec->id).key("session");
  write_session(w, session);
  w.key("report");
  write_report(w, report_of(turns));
  w.key("records").begin_array();
  const TurnPtr last = turns.empty() ? nullptr : turns.back();
  const auto path = trajectory::path_to(last);
  const std::size_t first = left_out(path);
  for (const auto& turn : std::span(path).subspan(first)) write_record(w, turn);
  w.end_array();
  if (first > 0) w.field("records_left_out", std::uint64_t{first});
  w.key("metadata").begin_object().key("accumulated_token_ids");
  write_ids(w, last ? trajectory::row_of(last) : trajectory::TokenIds{});
  w.field("max_trim_tokens", static_cast<std::uint64_t>(max_trim))
      .field("version", session.version);
  w.key("tree").begin_object();
  write_tree(w, turns);
  w.end_object().end_object().end_object();
  return w.take();
}

std::string session_tree(const store::SessionInfo& session, const std::vector<TurnPtr>& turns) {
  Writer w;
  w.begin_object().field("session_id", session.spec->id).key("session");
  write_session(w, session);
  w.key("report");
  write_report(w, report_of(turns));
  write_tree(w, turns);
  w.end_object();
  return w.take();
}

std::string session_list(const std::vector<store::SessionInfo>& sessions, bool more) {
  Writer w;
  w.begin_object().field("object", "list").key("data").begin_array();
  for (const auto& session : sessions) write_session(w, session);
  w.end_array().field("has_more", more).key("next");
  more ? w.string(std::to_string(sessions.back().number)) : w.null();
  w.end_object();
  return w.take();
}

}  // namespace verbatim::gateway
