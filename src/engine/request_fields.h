#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "json/writer.h"

namespace verbatim::engine {

// What the request builders of all kinds write and refuse. Pure.

// The most alternatives per token that engines give by default.
inline constexpr unsigned kMaxTopLogprobs = 20;

// Room for the ids of `request` as JSON, and the rest of a body.
std::size_t bytes_for_prompt(const TokenRequest& request);
// The ids of all pieces, with commas between them: the inside of a JSON array.
void append_ids(std::string& out, std::span<const std::span<const TokenId>> pieces);

// The stop ids of the family and the client's, each once.
std::vector<TokenId> stop_ids(const TokenRequest& request);

void write_strings(json::Writer& w, std::string_view name, const std::vector<std::string>& texts);
void write_ids(json::Writer& w, std::string_view name, const std::vector<TokenId>& ids);
template <class T>
void optional_field(json::Writer& w, std::string_view name, const std::optional<T>& value) {
  if (value) w.field(name, *value);
}

// temperature, top_p, top_k, min_p and the penalties, under the names that all engines share.
void write_shared_sampling(json::Writer& w, const message::Sampling& sampling);

// Finite numbers, alternatives within the limit, stop strings that are not empty, stop ids below
// `vocab_size`.
base::Status check_sampling(const message::Sampling& sampling, std::uint64_t vocab_size);

}  // namespace verbatim::engine
