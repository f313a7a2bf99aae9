#include "chat/parsers/stop_filter.h"

#include <algorithm>

namespace verbatim::chat::parsers {
namespace {

// Length of the longest proper prefix of `stop` that `text` ends with.
std::size_t overlap(std::string_view text, std::string_view stop) {
  for (std::size_t n = std::min(text.size(), stop.size() - 1); n > 0; --n) {
    if (text.ends_with(stop.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

StopFilter::StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {
  std::erase_if(stops_, [](const std::string& stop) { return stop.empty(); });
}

bool StopFilter::feed(std::string_view text, std::string& out) {
  if (found_) return true;
  if (stops_.empty()) {
    out += text;
    return false;
  }
  held_ += text;
  std::size_t first = 0;
  std::size_t end = std::string::npos;
  std::size_t keep = 0;
  for (const auto& stop : stops_) {
    keep = std::max(keep, overlap(held_, stop));
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos || at + stop.size() > end) continue;
    first = at + stop.size() < end ? at : std::min(first, at);
    end = at + stop.size();
  }
  if (end != std::string::npos) {
    out.append(held_, 0, first);
    held_.clear();
    found_ = true;
    return true;
  }
  // A cut in front of a held back prefix never splits a character: prefixes begin where stop
  // strings do.
  out.append(held_, 0, held_.size() - keep);
  held_.erase(0, held_.size() - keep);
  return false;
}

void StopFilter::flush(std::string& out) {
  out += held_;
  held_.clear();
}

}  // namespace verbatim::chat::parsers
