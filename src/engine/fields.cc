#include "engine/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "engine/upstream.h"

namespace verbatim::engine {

using base::Result;
using base::TokenId;
using json::Value;

base::Error malformed(std::string_view field, std::string_view found, std::string_view expected) {
  std::string message = "the engine's answer can't be trusted: ";
  if (!field.empty()) message.append(field).append(": ");
  message.append("found ").append(found).append(", expected ").append(expected);
  return base::Error{
      base::ErrorKind::kEngine, std::move(message), std::string(field), "malformed_answer", {}};
}

std::string found(const Value& value) {
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  if (value.is_object()) return "an object";
  return excerpt(value.raw());
}

std::string found(const std::optional<Value>& value) {
  return value ? found(*value) : "nothing";
}

std::string entry(std::string_view list, std::uint64_t at) {
  return std::string(list) + "[" + std::to_string(at) + "]";
}

Result<json::Document> parse_answer(std::string text, std::string_view field) {
  auto document = json::Document::parse(std::move(text), {.max_bytes = SIZE_MAX});
  if (document.ok()) return document;
  return malformed(field, "text that is not JSON (" + document.error().message + ")",
                   "a JSON object");
}

base::Status check_echo(const Value& list, std::string_view field,
                        std::span<const TokenIdSpan> sent) {
  std::size_t size = 0;
  for (const auto& piece : sent) size += piece.size();
  if (!list.is_array() || list.size() != size)
    return malformed(field, found(list), std::to_string(size) + " ids as sent");
  auto said = list.begin();
  std::uint64_t at = 0;
  for (const auto& piece : sent) {
    for (const TokenId id : piece) {
      const Value value = (*said).value;
      if (!is_id(value, id))
        return malformed(entry(field, at), found(value), std::to_string(id) + " as sent");
      ++said;
      ++at;
    }
  }
  return {};
}

std::optional<TokenId> named_id(std::string_view text) {
  constexpr std::string_view kPrefix = "token_id:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  TokenId id = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

bool is_id(const Value& value, TokenId id) {
  return value.is_number() && value.written_as_integer() && value.integer() == id;
}

std::optional<std::uint64_t> count_of(const Value& value) {
  if (!value.is_number() || !value.written_as_integer()) return std::nullopt;
  const auto number = value.integer();
  if (!number || *number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

Result<TokenId> token_id(const Value& value, std::string_view list, std::uint64_t at,
                         std::uint64_t vocab_size) {
  if (!value.is_number() || !value.written_as_integer())
    return malformed(entry(list, at), found(value), "a token id (an integer)");
  const auto id = value.integer();
  const std::uint64_t bound = std::min(vocab_size, std::uint64_t{UINT32_MAX} + 1);
  if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= bound) {
    return malformed(entry(list, at), found(value),
                     "a token id below the vocabulary's " + std::to_string(vocab_size));
  }
  return static_cast<TokenId>(*id);
}

Result<double> sampled_logprob(const std::optional<Value>& value, const std::string& field) {
  // What vLLM writes in place of a logprob that it does not have, and of minus infinity. Its
  // workers behind other frontends do so too; those of Dynamo write -1e30.
  constexpr double kStandIn = -9999;
  const auto logprob = value ? logprob_of(*value) : std::nullopt;
  if (!logprob) return malformed(field, found(value), kALogprob);
  if (*logprob <= kStandIn) {
    return malformed(field, found(value) + " (stands for one that the engine does not have)",
                     kALogprob);
  }
  return *logprob;
}

std::optional<double> logprob_of(const Value& value) {
  const auto number = value.is_number() ? value.number() : std::nullopt;
  return number && std::isfinite(*number) && *number <= base::kMaxLogprob ? number : std::nullopt;
}

Result<std::optional<std::vector<WeightSpan>>> read_weight_versions(const Value& object,
                                                                    std::string_view where) {
  const auto list = object.get("weight_versions");
  if (!list) return std::optional<std::vector<WeightSpan>>();
  if (!list->is_array()) return malformed(where, found(*list), "an array");
  std::vector<WeightSpan> spans;
  for (const auto& member : *list) {
    const Value& item = member.value;
    const auto field = entry(where, spans.size());
    const auto version = item.is_object() ? item.get("version") : std::nullopt;
    const auto start = item.is_object() ? item.get("start") : std::nullopt;
    const auto begin = start ? count_of(*start) : std::nullopt;
    if (!version || !version->is_string() || !begin)
      return malformed(field, found(item), "{version: string, start: count, end: count}");
    if (!spans.empty() && *begin < spans.back().begin) {
      return malformed(field + ".start", std::to_string(*begin),
                       "at least " + std::to_string(spans.back().begin));
    }
    spans.push_back({version->string(), *begin});
  }
  return std::optional<std::vector<WeightSpan>>(std::move(spans));
}

std::optional<Value> member_in(const Value& object, std::string_view name) {
  return object.is_object() ? object.get(name) : std::nullopt;
}

std::string text_in(const Value& object, std::string_view name) {
  const auto member = member_in(object, name);
  return member && member->is_string() ? member->string() : std::string();
}

std::uint64_t count_in(const Value& object, std::string_view name) {
  const auto member = member_in(object, name);
  return member ? count_of(*member).value_or(0) : 0;
}

std::vector<ModelInfo> read_models(const Value& root, std::string_view length) {
  std::vector<ModelInfo> models;
  const auto data = member_in(root, "data");
  if (!data || !data->is_array()) return models;
  for (const auto& member : *data) {
    auto id = text_in(member.value, "id");
    if (!id.empty()) models.push_back({std::move(id), count_in(member.value, length)});
  }
  return models;
}

}  // namespace verbatim::engine
