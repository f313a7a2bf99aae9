#include "tokenizer/text_trie.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace verbatim::tokenizer {

// Level by level over the sorted texts: a node stands for a range of texts that share their first
// `depth` bytes.
TextTrie::TextTrie(const std::vector<std::string_view>& texts) {
  if (texts.empty()) return;
  std::vector<std::uint32_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return texts[a] < texts[b]; });

  struct Open {
    std::size_t begin, end, depth;
    std::uint32_t node;
  };
  std::vector<Open> queue{{0, order.size(), 0, 0}};
  nodes_.emplace_back();
  for (std::size_t q = 0; q < queue.size(); ++q) {
    auto [begin, end, depth, node] = queue[q];
    if (texts[order[begin]].size() == depth) nodes_[node].value = order[begin++];
    nodes_[node].first_edge = static_cast<std::uint32_t>(edges_.size());
    while (begin < end) {
      const char byte = texts[order[begin]][depth];
      std::size_t same = begin + 1;
      while (same < end && texts[order[same]][depth] == byte) ++same;
      const auto target = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
      edges_.push_back({static_cast<std::uint8_t>(byte), target});
      queue.push_back({begin, same, depth + 1, target});
      begin = same;
    }
    nodes_[node].edge_count = static_cast<std::uint32_t>(edges_.size()) - nodes_[node].first_edge;
  }
  for (std::uint32_t i = 0; i < nodes_[0].edge_count; ++i) first_bytes_[edges_[i].byte] = true;
  if (nodes_[0].edge_count == 1) only_first_byte_ = static_cast<char>(edges_[0].byte);
}

std::uint32_t TextTrie::child(std::uint32_t node, std::uint8_t byte) const {
  const Edge* begin = edges_.data() + nodes_[node].first_edge;
  const Edge* end = begin + nodes_[node].edge_count;
  const Edge* found = std::lower_bound(
      begin, end, byte, [](const Edge& edge, std::uint8_t b) { return edge.byte < b; });
  return found != end && found->byte == byte ? found->target : kNone;
}

std::size_t TextTrie::next_candidate(std::string_view text, std::size_t at) const {
  if (empty() || at >= text.size()) return text.size();
  if (only_first_byte_) {
    const void* found = std::memchr(text.data() + at, *only_first_byte_, text.size() - at);
    return found == nullptr
               ? text.size()
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  }
  while (at < text.size() && !first_bytes_[static_cast<std::uint8_t>(text[at])]) ++at;
  return at;
}

}  // namespace verbatim::tokenizer
