#include "gateway/session_options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "chat/context.h"
#include "json/writer.h"
#include "protocol/chat_parameters.h"
#include "protocol/typed.h"

namespace verbatim::gateway {

using base::invalid;
using base::Result;
using base::Status;
using json::Value;
using trajectory::Equality;

namespace {

constexpr std::size_t kMaxBody = std::size_t{256} << 10;
constexpr std::size_t kMaxMetadata = std::size_t{64} << 10;

template <class T>
struct Named {
  std::string_view name;
  T value;
};

constexpr std::array<Named<SessionMode>, 3> kModes{{{"tree", SessionMode::kTree},
                                                    {"linear", SessionMode::kLinear},
                                                    {"strict", SessionMode::kStrict}}};
constexpr std::array<Named<Retention>, 2> kRetentions{
    {{"keep", Retention::kKeep}, {"template", Retention::kTemplate}}};
constexpr std::array<Named<Equality>, 2> kEqualities{
    {{"value", Equality::kValue}, {"exact", Equality::kExact}}};
constexpr std::array<Named<tokenizer::EncodingPolicy>, 2> kPolicies{
    {{"injection_safe", tokenizer::EncodingPolicy::kInjectionSafe},
     {"hf_exact", tokenizer::EncodingPolicy::kHfExact}}};

// The parameters of a chat request that a session may fix.
constexpr std::array<std::string_view, 12> kPins{"temperature",
                                                 "top_p",
                                                 "top_k",
                                                 "min_p",
                                                 "seed",
                                                 "frequency_penalty",
                                                 "presence_penalty",
                                                 "repetition_penalty",
                                                 "max_tokens",
                                                 "max_completion_tokens",
                                                 "stop",
                                                 "stop_token_ids"};

template <class Table>
std::string names_in(const Table& table) {
  std::string names;
  for (const auto& row : table) {
    if (!names.empty()) names += ", ";
    if constexpr (std::is_convertible_v<decltype(row), std::string_view>) {
      names += row;
    } else {
      names += row.name;
    }
  }
  return names;
}

template <class T, std::size_t N>
Result<T> read_name(const Value& value, const std::string& field,
                    const std::array<Named<T>, N>& table) {
  if (value.is_string()) {
    for (const auto& row : table) {
      if (value.string() == row.name) return row.value;
    }
    return invalid(field, "found \"" + std::string(value.string().substr(0, 64)) +
                              "\", expected one of " + names_in(table));
  }
  return protocol::mismatch(field, "one of " + names_in(table), value);
}

template <class T, std::size_t N>
std::string_view name_in(const std::array<Named<T>, N>& table, T value) {
  const auto row =
      std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.value == value; });
  return row == table.end() ? "" : row->name;
}

template <class T, class Into>
Status take(Result<T> value, Into& into) {
  if (!value) return std::move(value).error();
  into = std::move(*value);
  return {};
}

// Whose members are read one by one.
Status check_object(const std::string& field, const Value& value) {
  if (!value.is_object()) return protocol::mismatch(field, "an object", value);
  if (value.size() > protocol::kMaxMembers)
    return protocol::too_many_members(field, protocol::kMaxMembers);
  return {};
}

Status read_limits(const Value& value, SessionOptions& options) {
  const std::array<Named<std::optional<std::uint64_t>*>, 4> fields{
      {{"turns", &options.limits.turns},
       {"tokens", &options.limits.tokens},
       {"bytes", &options.limits.bytes},
       {"seconds", &options.limits.seconds}}};
  if (auto status = check_object("limits", value); !status.ok()) return status;
  for (const auto& member : value) {
    const std::string name = member.name();
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == name; });
    if (field == fields.end())
      return invalid("limits." + name.substr(0, 64), "unknown; allowed: " + names_in(fields));
    if (member.value.is_null() || !protocol::is_last(value, name, member.value)) continue;
    auto limit =
        protocol::read_integer(member.value, "limits." + name,
                               {1, std::numeric_limits<std::int64_t>::max(), "an integer >= 1"});
    if (!limit) return std::move(limit).error();
    *field->value = static_cast<std::uint64_t>(*limit);
  }
  return {};
}

// Each value as strictly as a request's would be read.
Status read_sampling(const Value& value, SessionOptions& options) {
  if (auto status = check_object("sampling", value); !status.ok()) return status;
  protocol::ChatRequest scratch;
  json::Writer w;
  w.begin_object();
  for (const auto& member : value) {
    const std::string name = member.name();
    if (std::find(kPins.begin(), kPins.end(), name) == kPins.end())
      return invalid("sampling." + name.substr(0, 64),
                     "can't be fixed for a session; allowed: " + names_in(kPins));
    if (member.value.is_null() || !protocol::is_last(value, name, member.value)) continue;
    auto status = protocol::read_chat_parameter(name, member.value, scratch);
    if (!status.ok()) return std::move(status).error().within("sampling");
    w.key(name).raw(member.value.raw());
  }
  w.end_object();
  options.sampling = w.text() == "{}" ? "" : w.take();
  return {};
}

Status read_template_kwargs(const Value& value, SessionOptions& options) {
  if (!value.is_object()) return protocol::mismatch("chat_template_kwargs", "an object", value);
  chat::TemplateInputs inputs;
  inputs.arguments = value;
  // Says which names are not the caller's to set.
  auto context = chat::template_context(chat::jinja::Value::list({}), inputs, {});
  if (!context) return std::move(context).error();
  options.template_kwargs = value.empty() ? "" : std::string(value.raw());
  return {};
}

// One option of the body, or of the text that the store keeps.
Status read_option(std::string_view name, const Value& value, SessionOptions& options) {
  if (name == "mode") return take(read_name(value, "mode", kModes), options.rules.mode);
  if (name == "equality")
    return take(read_name(value, "equality", kEqualities), options.rules.equality);
  if (name == "retention")
    return take(read_name(value, "retention", kRetentions), options.rules.retention);
  if (name == "client_profile")
    return take(protocol::read_string(value, "client_profile"), options.client_profile);
  if (name == "limits") return read_limits(value, options);
  if (name == "sampling") return read_sampling(value, options);
  if (name == "chat_template_kwargs") return read_template_kwargs(value, options);
  return invalid(
      std::string(name.substr(0, 64)),
      "unknown option; allowed: mode, equality, retention, client_profile, encoding_policy, "
      "model, chat_template_kwargs, sampling, limits, metadata, secret");
}

Status check_policy(const Value& value, const Model& model) {
  auto policy = read_name(value, "encoding_policy", kPolicies);
  if (!policy) return std::move(policy).error();
  if (model.by_messages())
    return protocol::unsupported("encoding_policy",
                                 "messages go up to this server's engine: nothing is encoded here");
  const auto served = model.renderer->policy();
  if (*policy == served) return {};
  return protocol::unsupported("encoding_policy", "this server encodes with " +
                                                      std::string(name_in(kPolicies, served)) +
                                                      " for all sessions (its --encoding-policy)");
}

Status read_profile(const Value& value, const Model& model, SessionOptions& options) {
  if (auto status = take(protocol::read_string(value, "client_profile"), options.client_profile);
      !status.ok())
    return status;
  return model.profiles.check(options.client_profile);
}

Status check_model(const Value& value, const Model& model) {
  auto name = protocol::read_string(value, "model");
  if (!name) return std::move(name).error();
  if (*name == model.name) return {};
  return invalid("model", "expected \"" + model.name + "\", which is served here, found " +
                              protocol::found(value));
}

Status read_metadata(const Value& value, SessionRequest& request) {
  if (!value.is_object()) return protocol::mismatch("metadata", "an object", value);
  if (value.raw().size() > kMaxMetadata) {
    return invalid("metadata", "expected at most " + std::to_string(kMaxMetadata) +
                                   " bytes, found " + std::to_string(value.raw().size()));
  }
  request.metadata = std::string(value.raw());
  return {};
}

// What only the creation of a session reads.
Status read_field(std::string_view name, const Value& value, const Model& model,
                  SessionRequest& request) {
  if (name == "metadata") return read_metadata(value, request);
  if (name == "secret") return take(protocol::read_bool(value, "secret"), request.secret);
  if (name == "encoding_policy") return check_policy(value, model);
  if (name == "model") return check_model(value, model);
  if (name == "client_profile") return read_profile(value, model, request.options);
  return read_option(name, value, request.options);
}

Status check_profile(const SessionOptions& options) {
  const std::string& profile = options.client_profile;
  const bool exact = options.rules.equality == Equality::kExact;
  if (!exact || profile.empty() || profile == ClientProfiles::kNone) return {};
  return invalid("client_profile",
                 "with equality exact, texts and arguments are compared byte for byte: leave it "
                 "out, or say none");
}

// What only a server that makes prompts can do.
Status check_path(const SessionOptions& options, const Model& model) {
  constexpr std::string_view kNoIds =
      "this server's engine is driven by messages: no prompt is made and no token counted here";
  if (!model.by_messages()) return {};
  if (options.rules.retention != Retention::kKeep)
    return protocol::unsupported("retention", kNoIds);
  if (options.limits.tokens) return protocol::unsupported("limits.tokens", kNoIds);
  return {};
}

void write_limit(json::Writer& w, std::string_view name,
                 const std::optional<std::uint64_t>& limit) {
  if (limit) w.field(name, *limit);
}

// Members of `to`, and behind them those of `from` that it has not.
std::string merged(const Value& to, const std::optional<Value>& from) {
  json::Writer w;
  w.begin_object();
  for (const auto& member : to) w.key(member.name()).raw(member.value.raw());
  if (from) {
    for (const auto& member : *from) {
      if (!to.find(member.name())) w.key(member.name()).raw(member.value.raw());
    }
  }
  w.end_object();
  return w.take();
}

}  // namespace

std::string_view name(SessionMode mode) {
  return name_in(kModes, mode);
}

std::string_view name(Retention retention) {
  return name_in(kRetentions, retention);
}

Result<SessionRequest> read_session_request(const std::string& body, const Model& model) {
  SessionRequest request;
  if (body.find_first_not_of(" \t\r\n") == std::string::npos) return request;
  auto document = json::Document::parse(body, {.max_bytes = kMaxBody});
  if (!document) return std::move(document).error();
  const Value root = document->root();
  if (!root.is_object()) return protocol::mismatch("", "the body to be an object", root);
  if (auto status = check_object("", root); !status.ok()) return std::move(status).error();
  for (const auto& member : root) {
    const std::string name = member.name();
    if (member.value.is_null() || !protocol::is_last(root, name, member.value)) continue;
    if (auto status = read_field(name, member.value, model, request); !status.ok())
      return std::move(status).error();
  }
  if (auto status = check_path(request.options, model); !status.ok())
    return std::move(status).error();
  if (auto status = check_profile(request.options); !status.ok()) return std::move(status).error();
  return request;
}

std::string SessionOptions::text() const {
  if (*this == SessionOptions{}) return {};
  json::Writer w;
  w.begin_object()
      .field("mode", name(rules.mode))
      .field("equality", name_in(kEqualities, rules.equality))
      .field("retention", name(rules.retention));
  if (!client_profile.empty()) w.field("client_profile", client_profile);
  if (!template_kwargs.empty()) w.key("chat_template_kwargs").raw(template_kwargs);
  if (!sampling.empty()) w.key("sampling").raw(sampling);
  w.key("limits").begin_object();
  write_limit(w, "turns", limits.turns);
  write_limit(w, "tokens", limits.tokens);
  write_limit(w, "bytes", limits.bytes);
  write_limit(w, "seconds", limits.seconds);
  w.end_object().end_object();
  return w.take();
}

Result<SessionOptions> options_from_text(const std::string& text) {
  SessionOptions options;
  if (text.empty()) return options;
  auto document = json::Document::parse(text);
  if (!document) return std::move(document).error();
  if (!document->root().is_object())
    return protocol::mismatch("", "the session's options to be an object", document->root());
  for (const auto& member : document->root()) {
    if (auto status = read_option(member.name(), member.value, options); !status.ok())
      return std::move(status).error();
  }
  return options;
}

Result<std::string> with_session_values(const std::string& body, const SessionOptions& options) {
  auto asked = json::Document::parse(body);
  if (!asked) return std::move(asked).error();
  const Value root = asked->root();
  auto pins = json::Document::parse(options.sampling.empty() ? "{}" : options.sampling);
  if (!pins) return std::move(pins).error();
  const Value fixed = pins->root();
  // Two names of one thing: fixing one takes the other away.
  const bool length = fixed.find("max_tokens") || fixed.find("max_completion_tokens");
  const auto is_fixed = [&](const std::string& name) {
    if (name == "n") return true;
    if (name == "max_tokens" || name == "max_completion_tokens") return length;
    if (name == "chat_template_kwargs") return !options.template_kwargs.empty();
    return fixed.find(name).has_value();
  };
  json::Writer w;
  w.begin_object();
  for (const auto& member : root) {
    const std::string name = member.name();
    if (!is_fixed(name)) w.key(name).raw(member.value.raw());
  }
  for (const auto& member : fixed) w.key(member.name()).raw(member.value.raw());
  if (!options.template_kwargs.empty()) {
    auto kwargs = json::Document::parse(options.template_kwargs);
    if (!kwargs) return std::move(kwargs).error();
    w.key("chat_template_kwargs").raw(merged(kwargs->root(), root.get("chat_template_kwargs")));
  }
  w.end_object();
  return w.take();
}

}  // namespace verbatim::gateway
