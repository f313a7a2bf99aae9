#include "engine/sglang/repeated.h"

#include <algorithm>
#include <vector>

namespace verbatim::engine::sglang {
namespace {

constexpr std::size_t kWorthCutting = 512;  // bytes of an event

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return at;
}

}  // namespace

std::optional<Repeated::Cut> Repeated::find(std::string_view event) const {
  if (content_.empty()) return std::nullopt;
  // In JSON these bytes can only be a key: within a string, quotes are escaped.
  const auto key = event.find(key_);
  if (key == std::string_view::npos) return std::nullopt;
  const auto open = skip_spaces(event, key + key_.size());
  if (open >= event.size() || event[open] != (kind_ == Kind::kList ? '[' : '"'))
    return std::nullopt;
  Cut cut{open + 1, open + 1 + content_.size()};
  if (event.substr(cut.begin, content_.size()) != content_) return std::nullopt;
  if (kind_ == Kind::kList) {
    if (cut.end >= event.size()) return std::nullopt;
    if (event[cut.end] == ',') {
      cut.end = skip_spaces(event, cut.end + 1);
    } else if (event[cut.end] != ']') {
      return std::nullopt;  // the last entry goes on
    }
  }
  // A second member of that name: only a parser knows which is meant.
  if (event.find(key_, cut.end) != std::string_view::npos) return std::nullopt;
  return cut;
}

void Repeated::grow(std::string_view event, const Cut& cut, std::string_view rest) {
  const auto known = cut.begin + content_.size();
  content_.append(event.substr(known, cut.end - known)).append(rest);
}

RepeatedMembers::Cuts RepeatedMembers::find(std::string_view event) const {
  Cuts cuts;
  if (event.size() < kWorthCutting) return cuts;
  for (std::size_t i = 0; i < kMembers; ++i) cuts[i] = members_[i].find(event);
  return cuts;
}

std::string RepeatedMembers::without(std::string_view event, const Cuts& cuts) {
  std::vector<Repeated::Cut> sorted;
  for (const auto& cut : cuts) {
    if (cut) sorted.push_back(*cut);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::string rest;
  std::size_t at = 0;
  for (const auto& cut : sorted) {
    rest.append(event.substr(at, cut.begin - at));
    at = cut.end;
  }
  return rest.append(event.substr(at));
}

}  // namespace verbatim::engine::sglang
