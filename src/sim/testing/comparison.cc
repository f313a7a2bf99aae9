#include "sim/testing/comparison.h"

#include <algorithm>
#include <string_view>

namespace verbatim::sim::testing {
namespace {

using json::Value;

// Each run of 8 or more hex digits, '-' between them, with '#' for the digits.
std::string without_drawn(std::string text) {
  constexpr std::string_view kDrawn = "0123456789abcdef-";
  for (std::size_t at = text.find_first_of(kDrawn); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_not_of(kDrawn, at), text.size());
    for (std::size_t i = at; end - at >= 8 && i < end; ++i) {
      if (text[i] != '-') text[i] = '#';
    }
    at = text.find_first_of(kDrawn, end);
  }
  return text;
}

// Without " at line 1 column 20".
std::string without_place(const std::string& text) {
  return text.substr(0, text.rfind(" at line "));
}

// Compares two JSON texts, value by value.

std::string differs(const std::string& place, std::string_view expected, std::string_view found) {
  std::string text = place.empty() ? "the answer" : place;
  return text.append(": expected ").append(expected).append(", found ").append(found);
}

std::string compare_scalars(const Value& expected, const Value& found, const std::string& place) {
  const bool same = expected.is_string() ? expected.string() == found.string()
                    : expected.is_number()
                        ? expected.number() == found.number() &&
                              expected.written_as_integer() == found.written_as_integer()
                        : expected.raw() == found.raw();
  return same ? std::string() : differs(place, expected.raw(), found.raw());
}

}  // namespace

std::string Comparison::compare(const Value& expected, const Value& found,
                                const std::string& place) {
  auto where = compare_values(expected, found, place);
  if (where.empty() || tolerance_ == nullptr || !listed(tolerance_->differs, place)) return where;
  return {};
}

std::string Comparison::compare_values(const Value& expected, const Value& found,
                                       const std::string& place) {
  const auto* rule = rule_for(place);
  if (expected.kind() != found.kind())
    return differs(place, json::describe(expected.kind()), json::describe(found.kind()));
  const bool any =
      rule != nullptr && (rule->may == Volatile::May::kVary || rule->may == Volatile::May::kList);
  if (any && !expected.is_object()) return {};
  if (expected.is_object()) return compare_objects(expected, found, place, rule);
  if (expected.is_array()) return compare_arrays(expected, found, place);
  const bool drawn = rule != nullptr && rule->may == Volatile::May::kDrawn;
  if (drawn && without_drawn(expected.string()) == without_drawn(found.string())) return {};
  const bool placed = rule != nullptr && rule->may == Volatile::May::kPlace;
  if (placed && without_place(expected.string()) == without_place(found.string())) return {};
  return compare_scalars(expected, found, place);
}

bool Comparison::listed(const std::vector<std::string>& places, const std::string& place) {
  const bool found = std::find(places.begin(), places.end(), place) != places.end();
  if (found) needed_->insert(place);
  return found;
}

std::string Comparison::compare_by_name(const Value& expected, const Value& found,
                                        const std::string& place) {
  const auto within = [&](const std::string& name) {
    return place.empty() ? name : place + "." + name;
  };
  for (const auto& each : expected) {
    const std::string at_name = within(each.name());
    const auto beside = found.find(each.name());
    if (!beside && !listed(tolerance_->left_out, at_name))
      return differs(place, "the key " + each.name(), found.raw());
    auto where = beside ? compare(each.value, *beside, at_name) : std::string();
    if (!where.empty()) return where;
  }
  for (const auto& each : found) {
    if (!expected.find(each.name()) && !listed(tolerance_->added, within(each.name())))
      return differs(place, "no key " + each.name(), found.raw());
  }
  return {};
}

const Volatile* Comparison::rule_for(const std::string& place) const {
  for (const auto& rule : volatiles_) {
    if (rule.place == place) return &rule;
  }
  return nullptr;
}

std::string Comparison::compare_objects(const Value& expected, const Value& found,
                                        const std::string& place, const Volatile* rule) {
  if (tolerance_ != nullptr) return compare_by_name(expected, found, place);
  if (expected.size() != found.size()) return differs(place, expected.raw(), found.raw());
  const bool other = rule != nullptr && rule->may == Volatile::May::kOtherNames;
  auto at = found.begin();
  for (const auto& each : expected) {
    const auto beside = *at;
    if (!other && each.name() != beside.name())
      return differs(place, "the key " + each.name(), "the key " + beside.name());
    const std::string name = other ? "*" : each.name();
    std::string at_name = place;
    at_name.append(place.empty() ? "" : ".").append(name);
    auto where = compare(each.value, beside.value, at_name);
    if (!where.empty()) return where;
    ++at;
  }
  return {};
}

std::string Comparison::compare_arrays(const Value& expected, const Value& found,
                                       const std::string& place) {
  if (expected.size() != found.size()) return differs(place, expected.raw(), found.raw());
  auto at = found.begin();
  for (const auto& each : expected) {
    auto where = compare(each.value, (*at).value, place + "[]");
    if (!where.empty()) return where;
    ++at;
  }
  return {};
}

}  // namespace verbatim::sim::testing
