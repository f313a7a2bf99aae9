#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace verbatim::tokenizer {

using Sha256 = std::array<std::byte, 32>;

[[nodiscard]] Sha256 sha256(std::span<const std::byte> bytes);
[[nodiscard]] std::string hex(const Sha256& hash);

}  // namespace verbatim::tokenizer
