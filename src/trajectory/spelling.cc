#include "trajectory/spelling.h"

#include <algorithm>

#include "json/writer.h"

namespace verbatim::trajectory {
namespace {

// A prefix stands in one line.
std::size_t prefix_size(const Spelling::Prefix& prefix, std::string_view value) {
  if (!value.starts_with(prefix.starts)) return 0;
  const auto line = value.substr(0, value.find('\n'));
  const auto end = line.find(prefix.ends, prefix.starts.size());
  return end == std::string_view::npos ? 0 : end + prefix.ends.size();
}

}  // namespace

std::string Spelling::rules() const {
  if (*this == Spelling{}) return {};
  json::Writer w;
  w.begin_array().boolean(scalars_in_strings).begin_array();
  for (const auto& prefix : prefixes)
    w.string(prefix.argument).string(prefix.starts).string(prefix.ends);
  w.end_array().begin_array();
  for (const auto& line : volatile_lines) w.string(line);
  w.end_array().end_array();
  return w.take();
}

std::string_view without_prefixes(const Spelling& spelling, std::string_view argument,
                                  std::string_view value) {
  // Until none is left, so that a value without its prefixes stays as it is.
  for (bool found = true; found;) {
    found = false;
    for (const auto& prefix : spelling.prefixes) {
      const std::size_t size = prefix.argument == argument ? prefix_size(prefix, value) : 0;
      value.remove_prefix(size);
      if (size > 0) found = true;
    }
  }
  return value;
}

std::string settled_text(const Spelling& spelling, std::string_view text) {
  std::string settled;
  settled.reserve(text.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size());
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    const auto found = std::find_if(
        spelling.volatile_lines.begin(), spelling.volatile_lines.end(),
        [&](const std::string& start) { return line.substr(indent).starts_with(start); });
    settled +=
        found == spelling.volatile_lines.end() ? line : line.substr(0, indent + found->size());
    if (text.empty()) break;
    settled += '\n';
    text.remove_prefix(1);
  }
  return settled;
}

}  // namespace verbatim::trajectory
