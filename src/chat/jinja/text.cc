#include "chat/jinja/text.h"

#include <algorithm>
#include <utility>

namespace verbatim::chat::jinja {

void TextBuilder::append(std::string_view bytes, const Run* runs, std::size_t count) {
  bytes_.append(bytes);
  for (std::size_t i = 0; i < count; ++i) extend(runs[i].size, runs[i].source);
}

Text TextBuilder::cut(std::size_t size) {
  Text tail;
  tail.bytes = bytes_.substr(size);
  std::size_t left = tail.bytes.size();
  while (left > 0) {
    Run& last = runs_.back();
    const std::size_t part = std::min<std::size_t>(left, last.size);
    tail.runs.push_back({static_cast<std::uint32_t>(part), last.source});
    last.size -= static_cast<std::uint32_t>(part);
    if (last.size == 0) runs_.pop_back();
    left -= part;
  }
  std::reverse(tail.runs.begin(), tail.runs.end());
  bytes_.resize(size);
  covered_ = size;
  return tail;
}

Text TextBuilder::take() {
  Text text{std::move(bytes_), std::move(runs_)};
  bytes_.clear();
  runs_.clear();
  covered_ = 0;
  return text;
}

}  // namespace verbatim::chat::jinja
