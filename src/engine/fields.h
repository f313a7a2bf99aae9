#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "json/value.h"

namespace verbatim::engine {

// What the readers of all kinds say about fields of an answer. Pure.

// "`field`: found ..., expected ..." as an error of the engine (code "malformed_answer"). An empty
// field means the whole.
base::Error malformed(std::string_view field, std::string_view found, std::string_view expected);
// What to say was found: scalars as written (cut when long), containers by kind and size.
std::string found(const json::Value& value);
std::string found(const std::optional<json::Value>& value);  // "nothing" where it is absent
// "output_ids[3]".
std::string entry(std::string_view list, std::uint64_t at);

// What an engine sent as JSON; `field` is what it stands for in the error.
base::Result<json::Document> parse_answer(std::string text, std::string_view field);
// Prompt ids that the engine says again must be those that were sent.
base::Status check_echo(const json::Value& list, std::string_view field,
                        std::span<const TokenIdSpan> sent);
// "token_id:42" -> 42: how a token is named where ids were asked for instead of texts.
std::optional<TokenId> named_id(std::string_view text);

// Written as an integer, and this one.
bool is_id(const json::Value& value, base::TokenId id);
// A number written as an integer, not negative.
std::optional<std::uint64_t> count_of(const json::Value& value);
// A token id: written as an integer, below `vocab_size`. Errors name `list`[`at`].
base::Result<base::TokenId> token_id(const json::Value& value, std::string_view list,
                                     std::uint64_t at, std::uint64_t vocab_size);
// A natural logprob: a finite number that is no more than rounding above 0.
inline constexpr const char* kALogprob = "a finite number not above 0 (a logprob)";
std::optional<double> logprob_of(const json::Value& value);
// The same of a sampled id, which can't be one of the numbers that stand for none.
base::Result<double> sampled_logprob(const std::optional<json::Value>& value,
                                     const std::string& field);

// `object`.weight_versions, named `where`: [{version, start, end}] over the ids of the completion;
// nullopt where it is absent.
base::Result<std::optional<std::vector<WeightSpan>>> read_weight_versions(const json::Value& object,
                                                                          std::string_view where);

// Members of objects that may lack them, or hold something else: "", 0.
std::string text_in(const json::Value& object, std::string_view name);
std::uint64_t count_in(const json::Value& object, std::string_view name);
// The member, where `object` is one and has it; null counts as absent.
std::optional<json::Value> member_in(const json::Value& object, std::string_view name);

// The answer of GET /v1/models, whose entries say the context in `length`. Entries without an id
// are left out.
std::vector<ModelInfo> read_models(const json::Value& root, std::string_view length);

}  // namespace verbatim::engine
