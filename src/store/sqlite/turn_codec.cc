#include "store/sqlite/turn_codec.h"

#include "store/sqlite/fields.h"

namespace verbatim::store::sqlite {
namespace {

using message::Field;
using message::FinishReason;
using message::Role;
using message::SpanSource;
using trajectory::Attach;

// Each function below names all fields of its type: who adds one to the type has to come here, for
// it no longer compiles. `A` is a FieldWriter or a FieldReader, `T` the type, const or not.

template <class A, class T>
void each_pair(A& a, T& pair) {
  auto& [name, raw] = pair;
  a.text(name);
  a.text(raw);
}

template <class A, class T>
void each_call(A& a, T& call) {
  auto& [id, name, arguments, native_id] = call;
  a.text(id);
  a.text(name);
  a.text(arguments);
  a.text(native_id);
}

template <class A, class T>
void each_message(A& a, T& message) {
  auto& [role, text, reasoning, tool_calls, tool_call_id, name, unknown] = message;
  a.choice(role, Role::kTool);
  a.text(text);
  a.maybe(reasoning, [&a](auto& value) { a.text(value); });
  a.list(tool_calls, [&a](auto& call) { each_call(a, call); });
  a.text(tool_call_id);
  a.text(name);
  a.list(unknown, [&a](auto& field) { each_pair(a, field); });
}

template <class A, class T>
void each_span(A& a, T& span) {
  auto& [count, source, field, message] = span;
  a.number(count);
  a.choices(source, SpanSource::kBoundary, field, Field::kOther);
  a.number_or_none(message);
}

template <class A, class T>
void each_difference(A& a, T& difference) {
  auto& [message, field] = difference;
  a.number(message);
  a.text(field);
}

template <class A, class T>
void each_attach(A& a, T& attach) {
  auto& [kind, reason, ambiguous, difference] = attach;
  a.choice(kind, Attach::Kind::kChild);
  a.text(reason);
  a.flag(ambiguous);
  a.maybe(difference, [&a](auto& value) { each_difference(a, value); });
}

template <class A, class T>
void each_skew(A& a, T& skew) {
  auto& [rendered, sent, common] = skew;
  a.number(rendered);
  a.number(sent);
  a.number(common);
}

template <class A, class T>
void each_weight(A& a, T& weight) {
  auto& [version, begin] = weight;
  a.text(version);
  a.number(begin);
}

template <class A, class T>
void each_usage(A& a, T& usage) {
  // What of it is reasoning stands at the end: it came with format 2.
  auto& [prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens] = usage;
  a.number(prompt_tokens);
  a.number(completion_tokens);
  a.maybe(cached_tokens, [&a](auto& value) { a.number(value); });
}

template <class A, class T>
void each_time(A& a, T& times) {
  auto& [received_ms, committed_ms, first_token_us, total_us] = times;
  a.signed_number(received_ms);
  a.signed_number(committed_ms);
  a.signed_number(first_token_us);
  a.signed_number(total_us);
}

template <class A, class T>
void each_sampling(A& a, T& sampling) {
  auto& [temperature, top_p, top_k, min_p, frequency_penalty, presence_penalty, repetition_penalty,
         seed, max_tokens, stop, stop_token_ids, logprobs, top_logprobs, cache_salt, priority] =
      sampling;
  const auto real = [&a](auto& value) { a.real(value); };
  const auto integer = [&a](auto& value) { a.signed_number(value); };
  a.maybe(temperature, real);
  a.maybe(top_p, real);
  a.maybe(top_k, integer);
  a.maybe(min_p, real);
  a.maybe(frequency_penalty, real);
  a.maybe(presence_penalty, real);
  a.maybe(repetition_penalty, real);
  a.maybe(seed, integer);
  a.maybe(max_tokens, [&a](auto& value) { a.number(value); });
  a.list(stop, [&a](auto& value) { a.text(value); });
  a.ids(stop_token_ids);
  a.flag(logprobs);
  a.number(top_logprobs);
  a.text(cache_salt);
  a.signed_number(priority);
}

template <class A, class T>
void each_field(A& a, T& turn, unsigned format) {
  // In columns: id to branch, session_id to root, and digest. Made by join_path(): the paths.
  auto& [id, seq, branch, choice, session_id, parent, root, messages, answer, message_count,
         parent_trim, prompt, spans, completion, logprobs, discarded, discarded_logprobs, row_size,
         path_prompt, path_letters, finish, engine_finish, closed, reasoning_open, root_digest,
         digest, attach, token_exact, usage, engine_kind, engine_mode, render_skew, engine_version,
         engine_url, engine_request_id, weight_versions, cached_tokens, sampling, max_new_tokens,
         template_kwargs, request_id, completion_id, thread_id, times] = turn;
  a.number(choice);
  a.list(messages, [&a](auto& message) { each_message(a, message); });
  each_message(a, answer);
  a.number(message_count);
  a.number(parent_trim);
  a.ids(prompt);
  a.list(spans, [&a](auto& span) { each_span(a, span); });
  a.ids(completion);
  a.doubles(logprobs);
  a.ids(discarded);
  a.doubles(discarded_logprobs);
  a.number(row_size);
  a.choice(finish, FinishReason::kToolCalls);
  a.text(engine_finish);
  a.flag(closed);
  a.flag(reasoning_open);
  a.raw(root_digest.bytes.data(), root_digest.bytes.size());
  each_attach(a, attach);
  a.flag(token_exact);
  a.maybe(usage, [&a](auto& counts) { each_usage(a, counts); });
  a.text(engine_kind);
  a.text(engine_mode);
  a.maybe(render_skew, [&a](auto& skew) { each_skew(a, skew); });
  a.text(engine_version);
  a.text(engine_url);
  a.text(engine_request_id);
  a.list(weight_versions, [&a](auto& weight) { each_weight(a, weight); });
  a.maybe(cached_tokens, [&a](auto& value) { a.number(value); });
  each_sampling(a, sampling);
  a.number(max_new_tokens);
  a.text(template_kwargs);
  a.text(request_id);
  a.text(completion_id);
  a.text(thread_id);
  each_time(a, times);
  if (format >= 2 && usage)
    a.maybe(usage->reasoning_tokens, [&a](auto& value) { a.number(value); });
}

template <class A, class T>
void each_tool(A& a, T& tool) {
  auto& [name, raw] = tool;
  a.text(name);
  a.text(raw);
}

template <class A, class T>
void each_root_field(A& a, T& info) {
  auto& [model, tokenizer, chat_template, encoding_policy, family, tools] = info;
  a.text(model);
  a.text(tokenizer);
  a.text(chat_template);
  a.text(encoding_policy);
  a.text(family);
  a.list(tools, [&a](auto& tool) { each_tool(a, tool); });
}

// Reads the format and what follows it; `newest` is the last that is known, `what` is for the
// message.
template <class F>
base::Status read(std::string_view bytes, unsigned newest, const char* what, F&& fields) {
  FieldReader reader(bytes);
  unsigned format = 0;
  reader.number(format);
  if (!reader.failed() && (format < 1 || format > newest))
    return base::error(base::ErrorKind::kInternal,
                       std::string(what) + ": found format " + std::to_string(format) +
                           ", expected at most " + std::to_string(newest) +
                           "; a newer verbatim may have written it");
  fields(reader, format);
  reader.end();
  if (reader.failed())
    return base::error(base::ErrorKind::kInternal, std::string(what) + ": " + reader.error());
  return {};
}

}  // namespace

std::string encode(const trajectory::Turn& turn) {
  FieldWriter writer;
  writer.number(kTurnFormat);
  each_field(writer, turn, kTurnFormat);
  return writer.take();
}

base::Result<std::unique_ptr<trajectory::Turn>> decode_turn(std::string_view bytes) {
  auto turn = std::make_unique<trajectory::Turn>();
  auto status = read(bytes, kTurnFormat, "a turn", [&](FieldReader& reader, unsigned format) {
    each_field(reader, *turn, format);
  });
  if (!status.ok()) return std::move(status).error();
  return turn;
}

std::string encode(const trajectory::RootInfo& root) {
  FieldWriter writer;
  writer.number(kRootFormat);
  each_root_field(writer, root);
  return writer.take();
}

base::Result<std::shared_ptr<const trajectory::RootInfo>> decode_root(std::string_view bytes) {
  auto root = std::make_shared<trajectory::RootInfo>();
  auto status = read(bytes, kRootFormat, "a root",
                     [&](FieldReader& reader, unsigned) { each_root_field(reader, *root); });
  if (!status.ok()) return std::move(status).error();
  return std::shared_ptr<const trajectory::RootInfo>(std::move(root));
}

}  // namespace verbatim::store::sqlite
