#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace verbatim::engine::sglang {

// The part of a member that every event of a cumulative stream repeats. Events grow with each id,
// so parsing all of each would cost the square of the answer's length; what is the same bytes as
// before is compared and cut out instead, and only the rest is parsed.
class Repeated {
 public:
  enum class Kind { kList, kText };
  // `key` as it stands in the event: "\"output_ids\":".
  Repeated(std::string_view key, Kind kind) : key_(key), kind_(kind) {}

  struct Cut {
    std::size_t begin = 0;  // bytes of the event
    std::size_t end = 0;    // with the comma behind the last entry that is known
  };
  // Where the event repeats all that is known; nullopt where it does not, or could be misread.
  [[nodiscard]] std::optional<Cut> find(std::string_view event) const;

  // The content between the brackets or quotes, as it is known from now on: whole, ...
  void set(std::string_view content) { content_ = content; }
  // ... or what was known and `rest` behind it, for an event that was cut.
  void grow(std::string_view event, const Cut& cut, std::string_view rest);

 private:
  std::string_view key_;
  Kind kind_;
  std::string content_;
};

// The members that repeat, in the order of kMembers.
class RepeatedMembers {
 public:
  enum Member : std::size_t { kText, kIds, kLogprobs, kTopLogprobs, kMembers };
  using Cuts = std::array<std::optional<Repeated::Cut>, kMembers>;

  // What can be cut out of this event.
  [[nodiscard]] Cuts find(std::string_view event) const;
  // The event without it.
  [[nodiscard]] static std::string without(std::string_view event, const Cuts& cuts);

  [[nodiscard]] Repeated& operator[](Member member) { return members_[member]; }

 private:
  std::array<Repeated, kMembers> members_ = {
      Repeated("\"text\":", Repeated::Kind::kText),
      Repeated("\"output_ids\":", Repeated::Kind::kList),
      Repeated("\"output_token_logprobs\":", Repeated::Kind::kList),
      Repeated("\"output_top_logprobs\":", Repeated::Kind::kList)};
};

}  // namespace verbatim::engine::sglang
