#include "protocol/chat_parameters.h"

#include <string>

#include "protocol/chat_messages.h"
#include "protocol/chat_not_served.h"
#include "protocol/typed.h"

namespace verbatim::protocol {
namespace {

using base::Result;
using base::Status;
using json::Value;

constexpr std::size_t kMaxStopStrings = 16;
constexpr std::size_t kMaxStopBytes = 1024;
constexpr std::size_t kMaxStopIds = 256;
constexpr std::int64_t kMaxTopLogprobs = 20;
constexpr std::size_t kMaxSaltBytes = 1024;
constexpr std::int64_t kMaxChoices = 128;  // as at OpenAI

using Field = const std::string&;
using Reader = Status (*)(const Value& value, Field field, ChatRequest& request);

template <class T, class Into>
Status take(Result<T> value, Into& into) {
  if (!value) return std::move(value).error();
  into = std::move(*value);
  return {};
}

Status number(const Value& value, Field field, std::optional<double>& into,
              const NumberRange& range) {
  return take(read_number(value, field, range), into);
}

constexpr NumberRange kPenalty{-2, 2, false, "a number in [-2, 2]"};
constexpr IntegerRange kTokens{.min = 1, .expected = "an integer >= 1"};

Status read_model(const Value& v, Field f, ChatRequest& r) {
  return take(read_string(v, f), r.model);
}
Status read_user(const Value& v, Field f, ChatRequest& r) {
  return take(read_string(v, f), r.user);
}
Status read_stream(const Value& v, Field f, ChatRequest& r) {
  return take(read_bool(v, f), r.stream);
}
Status read_tools(const Value& v, Field, ChatRequest& r) {
  return take(read_chat_tools(v), r.tools);
}
Status read_parallel(const Value& v, Field f, ChatRequest& r) {
  return take(read_bool(v, f), r.parallel_tool_calls);
}
Status read_logprobs(const Value& v, Field f, ChatRequest& r) {
  return take(read_bool(v, f), r.sampling.logprobs);
}
Status read_temperature(const Value& v, Field f, ChatRequest& r) {
  return number(v, f, r.sampling.temperature, {0, 1e6, false, "a number >= 0"});
}
Status read_top_p(const Value& v, Field f, ChatRequest& r) {
  return number(v, f, r.sampling.top_p, {0, 1, true, "a number in (0, 1]"});
}
Status read_min_p(const Value& v, Field f, ChatRequest& r) {
  return number(v, f, r.sampling.min_p, {0, 1, false, "a number in [0, 1]"});
}
Status read_frequency_penalty(const Value& v, Field f, ChatRequest& r) {
  return number(v, f, r.sampling.frequency_penalty, kPenalty);
}
Status read_presence_penalty(const Value& v, Field f, ChatRequest& r) {
  return number(v, f, r.sampling.presence_penalty, kPenalty);
}
Status read_repetition_penalty(const Value& v, Field f, ChatRequest& r) {
  return number(v, f, r.sampling.repetition_penalty, {0, 2, true, "a number in (0, 2]"});
}
Status read_seed(const Value& v, Field f, ChatRequest& r) {
  return take(read_integer(v, f, {.expected = "an integer"}), r.sampling.seed);
}

Status read_priority(const Value& v, Field f, ChatRequest& r) {
  using Limits = std::numeric_limits<std::int32_t>;
  return take(read_integer(v, f, {Limits::min(), Limits::max(), "an integer of 32 bits"}),
              r.sampling.priority);
}

// What an engine refuses beyond this, its kind knows.
Status read_cache_salt(const Value& v, Field f, ChatRequest& r) {
  auto salt = read_string(v, f);
  if (!salt) return std::move(salt).error();
  if (salt->empty() || salt->size() > kMaxSaltBytes) {
    return base::invalid(f, "expected 1 to " + std::to_string(kMaxSaltBytes) + " bytes, found " +
                                std::to_string(salt->size()));
  }
  r.sampling.cache_salt = std::move(*salt);
  return {};
}

Status read_top_k(const Value& v, Field f, ChatRequest& r) {
  auto k = read_integer(v, f, {-1, 1 << 30, "-1 (off) or an integer >= 1"});
  if (!k) return std::move(k).error();
  r.sampling.top_k = *k == 0 ? -1 : *k;  // vLLM and SGLang both took 0 for "off" at some time
  return {};
}

Status read_top_logprobs(const Value& v, Field f, ChatRequest& r) {
  auto n = read_integer(v, f, {0, kMaxTopLogprobs, "an integer in [0, 20]"});
  if (!n) return std::move(n).error();
  r.sampling.top_logprobs = static_cast<unsigned>(*n);
  return {};
}

// max_tokens and max_completion_tokens are two names of one thing.
Status read_max_tokens(const Value& v, Field f, ChatRequest& r) {
  auto n = read_integer(v, f, kTokens);
  if (!n) return std::move(n).error();
  const auto limit = static_cast<std::uint64_t>(*n);
  if (r.sampling.max_tokens && *r.sampling.max_tokens != limit) {
    return base::invalid(f, "max_tokens and max_completion_tokens are both given and differ (" +
                                std::to_string(*r.sampling.max_tokens) + ", " +
                                std::to_string(limit) + ")");
  }
  r.sampling.max_tokens = limit;
  return {};
}

Status read_n(const Value& v, Field f, ChatRequest& r) {
  auto n = read_integer(v, f, {1, kMaxChoices, "an integer in [1, 128]"});
  if (!n) return std::move(n).error();
  r.choices = static_cast<unsigned>(*n);
  return {};
}

Status read_stop(const Value& v, Field f, ChatRequest& r) {
  if (!v.is_string() && !v.is_array()) return mismatch(f, "a string or an array of strings", v);
  auto& stop = r.sampling.stop;
  if (v.is_string()) stop.push_back(v.string());
  if (v.is_array()) {
    for (const auto& item : v) {
      auto text = read_string(item.value, at(f, stop.size()));
      if (!text) return std::move(text).error();
      stop.push_back(std::move(*text));
      if (stop.size() > kMaxStopStrings) {
        return base::invalid(f, "at most " + std::to_string(kMaxStopStrings) + " stop strings");
      }
    }
  }
  for (const auto& text : stop) {
    if (text.empty()) return base::invalid(f, "a stop string must not be empty");
    if (text.size() > kMaxStopBytes) {
      return base::invalid(f, "a stop string may have " + std::to_string(kMaxStopBytes) +
                                  " bytes, found " + std::to_string(text.size()));
    }
  }
  return {};
}

Status read_stop_token_ids(const Value& v, Field f, ChatRequest& r) {
  if (!v.is_array()) return mismatch(f, "an array of token ids", v);
  auto& ids = r.sampling.stop_token_ids;
  for (const auto& item : v) {
    auto id = read_integer(item.value, at(f, ids.size()),
                           {0, std::numeric_limits<base::TokenId>::max(), "a token id"});
    if (!id) return std::move(id).error();
    ids.push_back(static_cast<base::TokenId>(*id));
    if (ids.size() > kMaxStopIds) {
      return base::invalid(f, "at most " + std::to_string(kMaxStopIds) + " ids");
    }
  }
  return {};
}

Status read_stream_options(const Value& v, Field f, ChatRequest& r) {
  if (!v.is_object()) return mismatch(f, "an object", v);
  if (const auto usage = v.get("include_usage")) {
    return take(read_bool(*usage, f + ".include_usage"), r.include_usage);
  }
  return {};
}

Status read_tool_choice(const Value& v, Field f, ChatRequest& r) {
  constexpr std::string_view kServed = "this server does not constrain the output; use \"auto\"";
  if (v.is_object()) return unsupported(f, "a forced function: " + std::string(kServed));
  if (!v.is_string()) return mismatch(f, "a string or an object", v);
  const std::string choice = v.string();
  if (choice == "required") return unsupported(f, "\"required\": " + std::string(kServed));
  if (choice != "auto" && choice != "none") {
    return base::invalid(f, "expected auto, none, required or an object, found " + found(v));
  }
  r.tool_choice = choice == "none" ? ToolChoice::kNone : ToolChoice::kAuto;
  return {};
}

Status read_template_kwargs(const Value& v, Field f, ChatRequest& r) {
  if (!v.is_object()) return mismatch(f, "an object", v);
  r.chat_template_kwargs = std::string(v.raw());
  return {};
}

Status read_metadata(const Value& v, Field f, ChatRequest& r) {
  if (!v.is_object()) return mismatch(f, "an object", v);
  r.metadata = std::string(v.raw());
  return {};
}

Status read_response_format(const Value& v, Field f, ChatRequest&) {
  if (!v.is_object()) return mismatch(f, "an object", v);
  const auto type = v.get("type");
  if (!type) return base::invalid(f + ".type", "missing; expected a string");
  if (!type->is_string()) return mismatch(f + ".type", "a string", *type);
  if (type->string() == "text") return {};
  return unsupported(f, "type " + found(*type) + "; only text is served");
}

Status accept_string(const Value& v, Field f, ChatRequest&) {
  auto text = read_string(v, f);
  return text ? Status() : Status(std::move(text).error());
}

struct Parameter {
  std::string_view name;
  Reader read;
};

constexpr Parameter kParameters[] = {
    {"model", read_model},
    {"tools", read_tools},
    {"tool_choice", read_tool_choice},
    {"parallel_tool_calls", read_parallel},
    {"stream", read_stream},
    {"stream_options", read_stream_options},
    {"temperature", read_temperature},
    {"top_p", read_top_p},
    {"top_k", read_top_k},
    {"min_p", read_min_p},
    {"frequency_penalty", read_frequency_penalty},
    {"presence_penalty", read_presence_penalty},
    {"repetition_penalty", read_repetition_penalty},
    {"seed", read_seed},
    {"max_tokens", read_max_tokens},
    {"max_completion_tokens", read_max_tokens},
    {"n", read_n},
    {"stop", read_stop},
    {"stop_token_ids", read_stop_token_ids},
    {"priority", read_priority},
    {"cache_salt", read_cache_salt},
    {"logprobs", read_logprobs},
    {"top_logprobs", read_top_logprobs},
    {"chat_template_kwargs", read_template_kwargs},
    {"response_format", read_response_format},
    {"user", read_user},
    {"metadata", read_metadata},
    // These change nothing of the answer: bookkeeping and hints of hosted services.
    {"service_tier", accept_string},
    {"safety_identifier", accept_string},
    {"prompt_cache_key", accept_string},
    {"prompt_cache_retention", accept_string},
};

}  // namespace

Status read_chat_parameter(std::string_view name, const Value& value, ChatRequest& request) {
  for (const auto& parameter : kParameters) {
    if (parameter.name == name) return parameter.read(value, std::string(name), request);
  }
  return check_not_served(name, value);
}

}  // namespace verbatim::protocol
