#include "engine/pool/health.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "net/http_types.h"

namespace verbatim::engine::pool {
namespace {

using base::ErrorKind;

constexpr int kOverloaded = 529;  // Dynamo's word for 503

bool is_busy_status(int status) {
  return status == 429 || status == 503 || status == kOverloaded;
}

}  // namespace

Sign sign_of(const base::Error& error) {
  if (error.upstream) {
    const int status = error.upstream->status;
    if (is_busy_status(status)) return Sign::kBusy;
    return status >= 500 ? Sign::kStrike : Sign::kNothing;
  }
  if (error.kind == ErrorKind::kUnavailable) {
    // Our own limits say nothing of the engine.
    const bool ours = error.code == "connection_limit" || error.code == "stopped";
    return ours ? Sign::kNothing : Sign::kUnreachable;
  }
  if (error.kind == ErrorKind::kTimeout) return Sign::kStrike;
  // What it reported itself, in an answer that could be read, is no sign of death.
  const bool reported = error.code == "engine_error" || error.code == "engine_abort";
  return error.kind == ErrorKind::kEngine && !reported ? Sign::kStrike : Sign::kNothing;
}

Sign sign_before_first_event(const base::Error& error) {
  const Sign sign = sign_of(error);
  return error.kind == ErrorKind::kTimeout && sign == Sign::kStrike ? Sign::kSilent : sign;
}

base::Duration busy_time(const base::Error& error, const HealthOptions& options) {
  if (!error.upstream) return options.busy;
  for (const auto& [name, value] : error.upstream->headers) {
    if (!net::equals_ignoring_case(name, "retry-after")) continue;
    // The other form, a date, comes from no engine.
    unsigned seconds = 0;
    const char* const end = value.data() + value.size();
    const auto [at, failed] = std::from_chars(value.data(), end, seconds);
    if (failed == std::errc::result_out_of_range) return options.max_busy;
    if (failed != std::errc() || at != end) return options.busy;
    return std::min<base::Duration>(std::chrono::seconds(seconds), options.max_busy);
  }
  return options.busy;
}

void Health::admit() {
  state_ = State::kServing;
  needs_ = Needs::kGets;
  strikes_ = 0;
  why_.clear();
}

void Health::succeeded() {
  if (state_ == State::kCooling) admit();
  strikes_ = 0;
  cooldowns_ = 0;
}

void Health::strike(const std::string& why, base::MonoTime now) {
  if (serving() && ++strikes_ >= options_.max_strikes) silent(why, now);
}

void Health::silent(const std::string& why, base::MonoTime now) {
  if (!serving()) return;
  needs_ = Needs::kToken;
  cool(why, now);
}

void Health::unreachable(const std::string& why, base::MonoTime now) {
  if (serving()) cool(why, now);
}

void Health::check_failed(const std::string& why, base::MonoTime now) {
  serving() ? strike(why, now) : cool(why, now);
}

void Health::keep_out(std::string why) {
  state_ = State::kKeptOut;
  why_ = std::move(why);
}

void Health::cool(const std::string& why, base::MonoTime now) {
  constexpr unsigned kMostDoublings = 20;
  const auto doubled = options_.first_cooldown * (1U << std::min(cooldowns_, kMostDoublings));
  const auto half = std::min<base::Duration>(doubled, options_.max_cooldown) / 2;
  const auto drawn = random_.below(static_cast<std::uint64_t>(half.count()) + 1);
  ++cooldowns_;
  state_ = State::kCooling;
  strikes_ = 0;
  why_ = why;
  cooled_at_ = now + half + base::Duration(static_cast<std::int64_t>(drawn));
}

}  // namespace verbatim::engine::pool
