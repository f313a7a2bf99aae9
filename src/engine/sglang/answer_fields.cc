#include "engine/sglang/answer_fields.h"

#include <memory>
#include <utility>

#include "engine/upstream.h"
#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

using base::Result;
using json::Value;

constexpr const char* kFinish = "meta_info.finish_reason";

// The engine gave the request up. Where it says with which status, the client gets that status and
// a body in the shape of SGLang's own errors.
base::Error aborted(const Value& finish) {
  std::string said;
  if (const auto message = finish.get("message"); message && message->is_string())
    said = excerpt(message->string(), 2000);
  auto error = base::error(base::ErrorKind::kEngine, "the engine aborted the generation");
  if (!said.empty()) error.message += ": " + said;
  error.code = "engine_abort";
  const auto code = finish.get("status_code");
  const auto status = code && code->is_number() ? code->integer() : std::nullopt;
  if (!status || *status < 400 || *status > 599) return error;
  json::Writer w;
  w.begin_object().key("error").begin_object().field("message", said).end_object().end_object();
  error.upstream = std::make_shared<const base::UpstreamAnswer>(base::UpstreamAnswer{
      static_cast<int>(*status), {{"content-type", "application/json"}}, w.take()});
  return error;
}

base::Status read_matched(const Value& finish, EngineFinish& into) {
  const auto matched = finish.get("matched");
  if (!matched) return {};
  if (matched->is_string()) {
    into.matched_string = matched->string();
    return {};
  }
  const auto id = count_of(*matched);
  if (id && *id <= UINT32_MAX) {
    into.matched_id = static_cast<TokenId>(*id);
    return {};
  }
  // A stop sequence of several ids: no single id matched.
  if (matched->is_array()) return {};
  return malformed("meta_info.finish_reason.matched", found(*matched), "a token id or a string");
}

}  // namespace

Result<std::optional<Form>> form_of(const Value& list, std::string_view field, const Counts& counts,
                                    std::optional<Form> known) {
  const bool all = list.is_array() && list.size() == counts.total;
  const bool fresh = list.is_array() && list.size() == counts.fresh();
  if (counts.seen == 0 && all) return known;
  if (all && known != Form::kNew) return std::optional(Form::kAll);
  if (fresh && known != Form::kAll) return std::optional(Form::kNew);
  std::string expected;
  if (known != Form::kNew || counts.seen == 0)
    expected = std::to_string(counts.total) + " entries (completion_tokens)";
  if (known != Form::kAll && counts.seen > 0) {
    if (!expected.empty()) expected += " or ";
    expected += "the " + std::to_string(counts.fresh()) + " new ones";
  }
  return malformed(field, found(list), expected);
}

std::optional<LogprobEntry> logprob_entry(const Value& value) {
  if (!value.is_array() || value.size() < 2) return std::nullopt;
  auto at = value.begin();
  const Value logprob = (*at).value;
  ++at;
  return LogprobEntry{logprob, (*at).value};
}

Result<std::optional<EngineFinish>> read_finish(const Value& meta) {
  const auto finish = meta.get("finish_reason");
  if (!finish) return std::optional<EngineFinish>();
  if (!finish->is_object()) return malformed(kFinish, found(*finish), "an object or null");
  const auto type = finish->get("type");
  if (!type || !type->is_string()) {
    return malformed("meta_info.finish_reason.type", type ? found(*type) : "nothing",
                     "stop, length or abort");
  }
  EngineFinish read;
  read.raw = type->string();
  if (read.raw == "abort") return aborted(*finish);
  if (read.raw == "length") {
    read.kind = EngineFinish::Kind::kLength;
  } else if (read.raw != "stop") {
    return malformed("meta_info.finish_reason.type", found(*type), "stop, length or abort");
  }
  if (auto status = read_matched(*finish, read); !status.ok()) return std::move(status).error();
  return std::optional<EngineFinish>(std::move(read));
}

}  // namespace verbatim::engine::sglang
