#include "sim/streaming.h"

#include <array>
#include <utility>

namespace verbatim::sim {
namespace {

constexpr std::array kStreamings = {
    std::pair{Streaming::kCumulative, std::string_view("cumulative")},
    std::pair{Streaming::kIncremental, std::string_view("incremental")},
    std::pair{Streaming::kMixed, std::string_view("mixed")}};

}  // namespace

std::string_view name(Streaming streaming) {
  for (const auto& [each, text] : kStreamings) {
    if (each == streaming) return text;
  }
  return {};
}

std::optional<Streaming> streaming_named(std::string_view text) {
  for (const auto& [streaming, each] : kStreamings) {
    if (each == text) return streaming;
  }
  return std::nullopt;
}

}  // namespace verbatim::sim
