#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace verbatim::tokenizer {

// Finds the longest of a set of texts at a place. Built once, then immutable. Time at a place is
// bounded by the longest text.
class TextTrie {
 public:
  TextTrie() = default;
  // The values are the indices of `texts` (none is empty, none stands there twice).
  explicit TextTrie(const std::vector<std::string_view>& texts);

  struct Match {
    std::size_t end = 0;
    std::uint32_t value = 0;
  };

  [[nodiscard]] bool empty() const { return nodes_.empty(); }

  // The first place from `at` on where some text may begin; text.size() if there is none.
  [[nodiscard]] std::size_t next_candidate(std::string_view text, std::size_t at) const;

  // The longest match at `at` that `allowed(value, end)` lets through.
  template <class Allowed>
  [[nodiscard]] std::optional<Match> longest(std::string_view text, std::size_t at,
                                             Allowed allowed) const {
    std::optional<Match> best;
    std::uint32_t node = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
      node = child(node, static_cast<std::uint8_t>(text[i]));
      if (node == kNone) break;
      const std::uint32_t value = nodes_[node].value;
      if (value != kNone && allowed(value, i + 1)) best = Match{i + 1, value};
    }
    return best;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // The children of a node are edges_[first_edge, first_edge + edge_count), sorted by byte.
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint32_t edge_count = 0;
    std::uint32_t value = kNone;
  };
  struct Edge {
    std::uint8_t byte = 0;
    std::uint32_t target = 0;
  };

  [[nodiscard]] std::uint32_t child(std::uint32_t node, std::uint8_t byte) const;

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::array<bool, 256> first_bytes_{};
  std::optional<char> only_first_byte_;
};

}  // namespace verbatim::tokenizer
