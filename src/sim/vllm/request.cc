#include "sim/vllm/request.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "json/dumps.h"
#include "sim/vllm/errors.h"
#include "sim/vllm/fields.h"

namespace verbatim::sim::vllm {
namespace {

using base::Error;
using base::Result;
using base::Status;
using json::Value;

constexpr std::int64_t kMaxSeqs = 8;       // --max-num-seqs of the recorded server
constexpr std::int64_t kMaxLogprobs = 20;  // --max-logprobs, vLLM's default

std::string with_value(const std::string& message, std::string_view field,
                       const std::string& value) {
  return message + " (parameter=" + std::string(field) + ", value=" + value + ")";
}

// The sampling parameters that the simulation acts on or checks.
struct Sampling {
  std::optional<std::int64_t> n, max_tokens, logprobs, prompt_logprobs, seed, output_kind,
      stream_interval;
  std::optional<double> temperature;
  std::optional<std::vector<std::string>> stop;
  std::optional<std::vector<std::int64_t>> stop_token_ids;
  std::optional<bool> ignore_eos, detokenize, skip_special_tokens, include_stop_str_in_output;
};

Sampling take_sampling(Fields& fields) {
  Sampling s;
  s.n = fields.integer("n");
  s.temperature = fields.number("temperature");
  s.seed = fields.integer("seed");
  s.stop = fields.strings("stop");
  s.stop_token_ids = fields.integers("stop_token_ids");
  s.ignore_eos = fields.flag("ignore_eos");
  s.max_tokens = fields.integer("max_tokens");
  s.detokenize = fields.flag("detokenize");
  s.skip_special_tokens = fields.flag("skip_special_tokens");
  s.include_stop_str_in_output = fields.flag("include_stop_str_in_output");
  s.output_kind = fields.integer("output_kind");
  s.stream_interval = fields.integer("stream_interval");
  return s;
}

Status check_temperature(double temperature) {
  const std::string found = json::python_float_repr(temperature);
  if (temperature < 0)
    return bad_request(
        "temperature",
        with_value("temperature must be non-negative, got " + found + ".", "temperature", found));
  if (temperature > 2)
    return bad_request(
        "temperature",
        with_value("temperature must be in [0, 2], got " + found + ".", "temperature", found));
  return {};
}

Status check_logprobs(std::int64_t asked, std::uint64_t vocab_size) {
  const std::int64_t wanted = asked == -1 ? static_cast<std::int64_t>(vocab_size) : asked;
  if (wanted <= kMaxLogprobs) return {};
  const std::string found = std::to_string(wanted);
  return bad_request(
      "logprobs",
      with_value("Requested sample logprobs of " + found +
                     ", which is greater than max allowed: " + std::to_string(kMaxLogprobs),
                 "logprobs", found),
      Stage::kEngine);
}

// What SamplingParams refuses, in its order.
Status check_sampling(const Sampling& s, const ServerFacts& server) {
  const std::int64_t n = s.n.value_or(1);
  if (n < 1)
    return bad_request(std::nullopt, "n must be at least 1, got " + std::to_string(n) + ".");
  if (s.temperature) {
    if (auto status = check_temperature(*s.temperature); !status.ok()) return status;
  }
  if (s.max_tokens && *s.max_tokens < 1) {
    const auto found = std::to_string(*s.max_tokens);
    return bad_request("max_tokens", with_value("max_tokens must be at least 1, got " + found + ".",
                                                "max_tokens", found));
  }
  if (s.stop && std::find(s.stop->begin(), s.stop->end(), "") != s.stop->end())
    return bad_request(std::nullopt, "stop cannot contain an empty string.");
  if (s.stop && !s.stop->empty() && !s.detokenize.value_or(true))
    return bad_request(std::nullopt,
                       "stop strings are only supported when detokenize is True. Set "
                       "detokenize=True to use stop.");
  if (n > 1 && s.temperature && *s.temperature == 0)
    return bad_request(std::nullopt,
                       "n must be 1 when using greedy sampling, got " + std::to_string(n) + ".");
  if (n > kMaxSeqs)
    return bad_request(std::nullopt,
                       "sampling_params.n must be at most the server's max_num_seqs (" +
                           std::to_string(kMaxSeqs) + "), got " + std::to_string(n) + ".");
  if (s.seed == kBeyond)
    return bad_request(std::nullopt, "can't serialize ints < -2**63 or > 2**64 - 1",
                       Stage::kEngine);
  return s.logprobs ? check_logprobs(*s.logprobs, server.vocab_size) : Status();
}

void use_sampling(const Sampling& s, Request& request) {
  GenerateCall& call = request.call;
  call.samples = static_cast<std::uint64_t>(s.n.value_or(1));
  call.seed = s.seed;
  if (s.stop) call.limits.stop_strings = *s.stop;
  for (const auto id : s.stop_token_ids.value_or(std::vector<std::int64_t>()))
    call.limits.stop_ids.push_back(static_cast<TokenId>(id));
  call.ignores_stop_id = s.ignore_eos.value_or(false);
  call.skips_special = s.skip_special_tokens.value_or(true);
  request.keeps_stop_string = s.include_stop_str_in_output.value_or(false);
  request.full_output = s.output_kind == 2;
  if (s.stream_interval && *s.stream_interval > 0)
    call.stream_interval = static_cast<std::uint64_t>(*s.stream_interval);
  if (s.prompt_logprobs)
    request.prompt_logprobs =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, *s.prompt_logprobs));
  call.logprobs = s.logprobs.has_value();
  call.top_logprobs = static_cast<std::uint64_t>(s.logprobs.value_or(0));
}

// The first id that the model does not have.
Status check_vocabulary(const std::vector<std::int64_t>& ids, const Value& list,
                        std::uint64_t vocab_size) {
  auto member = list.begin();
  for (const auto id : ids) {
    if (static_cast<std::uint64_t>(id) >= vocab_size)
      return bad_request(std::nullopt,
                         "Token id " + shown((*member).value) + " is out of vocabulary",
                         Stage::kEngine);
    ++member;
  }
  return {};
}

Status check_length(std::size_t prompt, std::uint64_t max) {
  const std::string length = "The decoder prompt (length " + std::to_string(prompt) + ")";
  const std::string longer = "longer than the maximum model length of " + std::to_string(max) +
                             ". Make sure that `max_model_len` is no smaller than the number of "
                             "text tokens";
  if (prompt > max)
    return bad_request(std::nullopt, length + " is " + longer + ".", Stage::kEngine);
  if (prompt == max)
    return bad_request(std::nullopt,
                       length + " plus the number of requested output tokens (at least 1) is " +
                           longer + " (prompt + requested output tokens).",
                       Stage::kEngine);
  return {};
}

Status check_model(const Value& root, const ServerFacts& server) {
  const auto model = root.get("model");
  if (!model || model->string().empty() || model->string() == server.model) return {};
  return refused(404, "NotFoundError", "model",
                 "The model `" + model->string() +
                     "` does not exist. Valid aliases: " + std::string(server.model) + ".");
}

Status check_salt(const Value& root, const Profile& profile) {
  const auto salt = root.get("cache_salt");
  if (!salt) return {};
  const std::string text = salt->string();
  const auto refuse = [](const std::string& rule) {
    return bad_request("cache_salt",
                       "Parameter 'cache_salt' must be " + rule + ". (parameter=cache_salt)");
  };
  if (text.empty()) return refuse("a non-empty string if provided");
  if (profile.longest_salt == 0) return {};
  constexpr std::string_view kBarred("@/\\\0", 4);
  if (text.size() > profile.longest_salt || text.find_first_of(kBarred) != std::string::npos)
    return refuse("at most " + std::to_string(profile.longest_salt) +
                  " characters and must not contain '@', '/', '\\\\', or NUL");
  return {};
}

// A grammar that is no JSON; others are not looked at.
Status check_structured(const Value& params) {
  const auto outputs = params.get("structured_outputs");
  const auto schema = outputs && outputs->is_object() ? outputs->get("json") : std::nullopt;
  if (!schema || !schema->is_string() || json::Document::parse(schema->string()).ok()) return {};
  return bad_request(std::nullopt, "Invalid JSON grammar specification.");
}

void check_features(const Value& root, Problems& problems) {
  const auto features = root.get("features");
  if (!features) return;
  if (!features->is_object()) {
    problems.add("model_attributes_type", "features",
                 "Input should be a valid dictionary or object to extract fields from",
                 shown(*features));
    return;
  }
  for (const char* field : {"mm_hashes", "mm_placeholders"}) {
    if (!features->find(field))
      problems.add("missing", std::string("features.") + field, "Field required", shown(*features));
  }
}

void check_output_mode(const Value& root, Problems& problems) {
  const auto mode = root.find("output_mode");
  if (!mode || (mode->is_string() && (mode->string() == "tokens" || mode->string() == "text")))
    return;
  problems.add("literal_error", "output_mode", "Input should be 'tokens' or 'text'", shown(*mode),
               R"({'expected': "'tokens' or 'text'"})");
}

void read_stream(Fields& fields, const Value& root, Request& request) {
  request.call.stream = fields.flag("stream").value_or(false);
  const auto options = root.get("stream_options");
  if (!options || !options->is_object()) return;
  const auto on = [&](const char* name) {
    const auto value = options->get(name);
    return value && value->is_bool() && value->boolean();
  };
  request.include_usage = on("include_usage");
  request.continuous_usage = on("continuous_usage_stats");
}

Sampling read_sampling_object(const Value& root, Problems& problems) {
  const auto params = root.find("sampling_params");
  if (!params) {
    problems.missing("sampling_params", root);
    return {};
  }
  const std::size_t before = problems.size();
  Sampling sampling;
  if (params->is_object()) {
    Fields fields(*params, "sampling_params", problems);
    sampling = take_sampling(fields);
    sampling.logprobs = fields.integer("logprobs");
    sampling.prompt_logprobs = fields.integer("prompt_logprobs");
  } else {
    problems.add("dict_type", "sampling_params", "Input should be a valid dictionary",
                 shown(*params));
  }
  if (problems.size() > before)
    problems.insert(before, "is_instance_of", "sampling_params",
                    "Input should be an instance of SamplingParams", shown(*params),
                    "{'class': 'SamplingParams'}");
  return sampling;
}

void take_prompt(const std::vector<std::int64_t>& ids, GenerateCall& call) {
  call.prompt.reserve(ids.size());
  for (const auto id : ids) call.prompt.push_back(static_cast<TokenId>(id));
}

std::uint64_t room(std::optional<std::int64_t> asked, std::size_t prompt, std::uint64_t max) {
  const std::uint64_t left = max - prompt;
  return asked ? std::min(left, static_cast<std::uint64_t>(*asked)) : left;
}

// What the types of a generate request allow; then what its values do.
struct GenerateFields {
  std::optional<std::vector<std::int64_t>> ids;
  Sampling sampling;
};

GenerateFields take_generate(const Value& root, const Profile& profile, Problems& problems,
                             Request& request) {
  Fields fields(root, "", problems);
  GenerateFields taken;
  request.call.rid = fields.string("request_id").value_or("");
  if (!root.find("token_ids")) {
    problems.missing("token_ids", root);
  } else {
    taken.ids = fields.integers("token_ids");
  }
  const auto list = root.get("token_ids");
  if (taken.ids && taken.ids->empty() && profile.newest_fields)
    problems.add("too_short", "token_ids",
                 "List should have at least 1 item after validation, not 0", shown(*list),
                 "{'field_type': 'List', 'min_length': 1, 'actual_length': 0}");
  check_features(root, problems);
  taken.sampling = read_sampling_object(root, problems);
  (void)fields.string("model");
  if (profile.newest_fields) {
    request.call.echoes_prompt = fields.flag("return_token_ids").value_or(false);
    check_output_mode(root, problems);
    const auto mode = root.get("output_mode");
    request.text = mode && mode->is_string() && mode->string() == "text";
  }
  read_stream(fields, root, request);
  (void)fields.string("cache_salt");
  (void)fields.integer("priority");
  return taken;
}

Status check_negative(const std::vector<std::int64_t>& ids, const Value& list) {
  if (std::none_of(ids.begin(), ids.end(), [](std::int64_t id) { return id < 0; })) return {};
  constexpr const char* kRule = "token_ids must not contain negative values";
  Problems problems;
  problems.add("value_error", "token_ids", std::string("Value error, ") + kRule, shown(list),
               std::string("{'error': ValueError(") + python_repr(kRule) + ")}");
  return problems.error();
}

}  // namespace

Result<Request> read_generate(std::string_view body, const ServerFacts& server) {
  const auto document = parse_body(body);
  if (!document.ok()) return document.error();
  const Value root = document->root();
  Request request;
  Problems problems;
  const GenerateFields taken = take_generate(root, server.profile, problems, request);
  if (!problems.empty()) return problems.error();
  const Value list = *root.get("token_ids");
  for (auto status : {check_negative(*taken.ids, list), check_model(root, server),
                      check_salt(root, server.profile), check_sampling(taken.sampling, server),
                      check_structured(*root.get("sampling_params"))}) {
    if (!status.ok()) return std::move(status).error();
  }
  if (root.get("features"))
    return bad_request("features", "features are not simulated: expected null");
  use_sampling(taken.sampling, request);
  for (auto status : {check_length(taken.ids->size(), server.max_model_len),
                      check_vocabulary(*taken.ids, list, server.vocab_size)}) {
    if (!status.ok()) return std::move(status).error();
  }
  take_prompt(*taken.ids, request.call);
  request.call.limits.max_new_tokens =
      room(taken.sampling.max_tokens, taken.ids->size(), server.max_model_len);
  return request;
}

namespace {

Error no_such_prompt(const Value& prompt, std::size_t at, const Value& id) {
  const std::string where = "prompt." + std::to_string(at);
  Problems problems;
  problems.add("greater_than_equal", where, "Input should be greater than or equal to 0", shown(id),
               "{'ge': 0}");
  problems.add("list_type", where, "Input should be a valid list", shown(id));
  problems.add("string_type", "prompt", "Input should be a valid string", shown(prompt));
  problems.add("string_type", where, "Input should be a valid string", shown(id));
  return problems.error();
}

Status read_prompt_ids(const Value& prompt, const ServerFacts& server, TokenIds& ids) {
  if (prompt.empty()) return bad_request(std::nullopt, "You must pass at least one prompt");
  std::size_t at = 0;
  for (const auto& member : prompt) {
    const auto id = member.value.is_number() ? member.value.integer() : std::nullopt;
    if (member.value.is_array() || member.value.is_string())
      return bad_request("prompt", "several prompts are not simulated: expected one");
    if (!id || *id < 0) return no_such_prompt(prompt, at, member.value);
    if (static_cast<std::uint64_t>(*id) >= server.vocab_size)
      return bad_request(std::nullopt, "Token id " + std::to_string(*id) + " is out of vocabulary");
    ids.push_back(static_cast<TokenId>(*id));
    ++at;
  }
  return {};
}

Status read_prompt(const Value& root, const ServerFacts& server, TokenIds& ids) {
  const auto prompt = root.get("prompt");
  if (!prompt) return bad_request(std::nullopt, "You must pass at least one prompt");
  if (prompt->is_array()) return read_prompt_ids(*prompt, server, ids);
  if (!prompt->is_string()) return no_such_prompt(*prompt, 0, *prompt);
  server.tokenizer.encode(prompt->string(), ids);
  return {};
}

Status check_window(std::size_t prompt, std::optional<std::int64_t> max_tokens, std::uint64_t max) {
  const auto limit = std::to_string(max);
  if (prompt >= max) {
    const auto found = std::to_string(prompt);
    return bad_request(
        "input_tokens",
        with_value("This model's maximum context length is " + limit +
                       " tokens. However, your prompt contains " + found +
                       " input tokens, which exceeds this limit even without any output tokens. "
                       "Please reduce the length of the input prompt.",
                   "input_tokens", found));
  }
  if (max_tokens && static_cast<std::uint64_t>(*max_tokens) > max) {
    const auto found = std::to_string(*max_tokens);
    return bad_request("max_tokens",
                       with_value("max_tokens=" + found + " cannot be greater than max_model_len=" +
                                      limit + ". Please request fewer output tokens.",
                                  "max_tokens", found));
  }
  return {};
}

constexpr std::int64_t kCompletionsMaxTokens = 16;

}  // namespace

Result<Request> read_completions(std::string_view body, const ServerFacts& server) {
  const auto document = parse_body(body);
  if (!document.ok()) return document.error();
  const Value root = document->root();
  Request request;
  request.completions = true;
  Problems problems;
  Fields fields(root, "", problems);
  request.call.rid = fields.string("request_id").value_or("");
  Sampling sampling = take_sampling(fields);
  sampling.logprobs = fields.integer("logprobs");
  sampling.prompt_logprobs = fields.integer("prompt_logprobs");
  request.call.echoes_prompt = fields.flag("return_token_ids").value_or(false);
  request.names_ids = fields.flag("return_tokens_as_token_ids").value_or(false);
  const bool echoes = fields.flag("echo").value_or(false);
  read_stream(fields, root, request);
  if (!problems.empty()) return problems.error();
  if (auto status = check_model(root, server); !status.ok()) return std::move(status).error();
  TokenIds& ids = request.call.prompt;
  for (auto status : {read_prompt(root, server, ids), check_sampling(sampling, server),
                      check_window(ids.size(), sampling.max_tokens, server.max_model_len)}) {
    if (!status.ok()) return std::move(status).error();
  }
  if (echoes || sampling.prompt_logprobs)
    return bad_request("echo", "echo and prompt_logprobs are not simulated on completions");
  use_sampling(sampling, request);
  request.call.limits.max_new_tokens =
      room(sampling.max_tokens.value_or(kCompletionsMaxTokens), ids.size(), server.max_model_len);
  return request;
}

bool asks_for_stream(std::string_view body) {
  const auto document = parse_body(body);
  const auto stream = document.ok() ? document->root().get("stream") : std::nullopt;
  return stream && stream->is_bool() && stream->boolean();
}

Result<std::vector<std::string>> read_abort(std::string_view body) {
  const auto document = parse_body(body);
  if (!document.ok()) return document.error();
  const auto list = document->root().get("request_ids");
  if (!list || !list->is_array())
    return refused(400, "Bad Request", std::nullopt, "Missing 'request_ids' in request body");
  std::vector<std::string> ids;
  for (const auto& member : *list) {
    if (member.value.is_string()) ids.push_back(member.value.string());
  }
  return ids;
}

}  // namespace verbatim::sim::vllm
