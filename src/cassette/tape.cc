#include "cassette/tape.h"

#include <algorithm>
#include <utility>

namespace verbatim::cassette {
namespace {

// A client that asks wrongly for hours is not kept in memory.
constexpr std::size_t kMostReported = 1000;

base::Result<std::vector<NormalRequest>> normal_forms(const std::vector<RecordedTurn>& turns,
                                                      const std::vector<std::string>& ignored) {
  std::vector<NormalRequest> out;
  for (const auto& turn : turns) {
    const auto& asked = turn.request;
    auto normal = normalise(asked.method, asked.path, asked.query, asked.body, ignored);
    if (!normal) return std::move(normal).error().within(name_of(turn));
    out.push_back(std::move(*normal));
  }
  return out;
}

}  // namespace

base::Result<Tape> Tape::make(Options options) {
  Tape tape(std::move(options));
  auto turns = normal_forms(tape.options_.turns, tape.options_.ignored);
  if (!turns) return std::move(turns).error();
  auto standing = normal_forms(tape.options_.standing, tape.options_.ignored);
  if (!standing) return std::move(standing).error();
  tape.turns_ = std::move(*turns);
  tape.standing_ = std::move(*standing);
  return tape;
}

Tape::Found Tape::unexpected(const std::string& name, std::string why) {
  if (unexpected_.size() < kMostReported) unexpected_.push_back("unexpected: " + name + ": " + why);
  return {nullptr, false, std::move(why)};
}

Tape::Found Tape::take(std::string_view method, std::string_view path, std::string_view query,
                       std::string_view body) {
  const std::string name = std::string(method) + " " + std::string(path);
  const auto asked = normalise(method, path, read_query(query), body, options_.ignored);
  if (!asked) return unexpected(name, asked.error().field + ": " + asked.error().message);
  if (next_ < turns_.size() && *asked == turns_[next_])
    return {&options_.turns[next_++], false, ""};
  const auto at = std::find(standing_.begin(), standing_.end(), *asked);
  if (at != standing_.end())
    return {&options_.standing[static_cast<std::size_t>(at - standing_.begin())], true, ""};
  if (next_ == turns_.size())
    return unexpected(name, "all " + std::to_string(turns_.size()) + " turns were replayed");
  return unexpected(name, "expected " + name_of(options_.turns[next_]) + ": " +
                              first_difference(*asked, turns_[next_]));
}

std::vector<std::string> Tape::report() const {
  auto out = unexpected_;
  for (std::size_t i = next_; i < turns_.size(); ++i)
    out.push_back("missing: " + name_of(options_.turns[i]) + " was not asked for");
  return out;
}

}  // namespace verbatim::cassette
