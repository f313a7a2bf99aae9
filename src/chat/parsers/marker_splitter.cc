#include "chat/parsers/marker_splitter.h"

#include <algorithm>

namespace verbatim::chat::parsers {

MarkerSplitter::Hit MarkerSplitter::find(std::string_view text) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto rest = text.substr(at);
    bool may_become = false;
    for (const auto& marker : markers_) {
      if (rest.starts_with(marker.spelling)) return {at, &marker};
      may_become = may_become || marker.spelling.starts_with(rest);
    }
    if (may_become) return {at, nullptr};
  }
  return {text.size(), nullptr};
}

void MarkerSplitter::feed(std::string_view text, Parser& parser, message::Events& out) {
  if (markers_.empty()) {
    parser.text(text, out);
    return;
  }
  held_ += text;
  std::string_view rest = held_;
  while (true) {
    const Hit hit = find(rest);
    if (hit.at > 0) parser.text(rest.substr(0, hit.at), out);
    rest.remove_prefix(hit.at);
    if (hit.marker == nullptr) break;
    parser.marker(hit.marker->index, out);
    rest.remove_prefix(hit.marker->spelling.size());
  }
  held_.erase(0, held_.size() - rest.size());
}

void MarkerSplitter::flush(Parser& parser, message::Events& out) {
  if (held_.empty()) return;
  const std::string held = std::move(held_);
  held_.clear();
  parser.text(held, out);
}

}  // namespace verbatim::chat::parsers
