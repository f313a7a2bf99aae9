#include "gateway/turn_metrics.h"

#include "gateway/session_options.h"
#include "gateway/usage.h"

namespace verbatim::gateway {

using base::Metric;
using trajectory::Attach;

namespace {

constexpr unsigned kMicroseconds = 6;
constexpr std::array<std::uint64_t, 21> kTimes = {
    100,       250,        500,        1'000,      2'500,       5'000,       10'000,
    25'000,    50'000,     100'000,    250'000,    500'000,     1'000'000,   2'500'000,
    5'000'000, 10'000'000, 30'000'000, 60'000'000, 120'000'000, 300'000'000, 600'000'000};

constexpr Metric kAmbiguous{"verbatim_turns_ambiguous_total",
                            "Committed turns whose history several recorded turns matched equally "
                            "well; the newest was taken"};
constexpr Metric kPromptTokens{"verbatim_prompt_tokens_total",
                               "Ids of the prompts of committed turns, their history included"};
constexpr Metric kCachedTokens{
    "verbatim_cached_prompt_tokens_total",
    "Prompt ids of committed turns that the engine had in its prefix cache, where it says"};
constexpr Metric kRenderedTokens{
    "verbatim_rendered_prompt_tokens_total",
    "Prompt ids of committed turns that were rendered and encoded for them"};
constexpr Metric kSampledTokens{"verbatim_sampled_tokens_total",
                                "Ids that engines sampled for committed turns"};
constexpr Metric kDiscardedTokens{"verbatim_discarded_tokens_total",
                                  "Ids that engines sampled behind a stop of committed turns"};
constexpr Metric kWhole{
    "verbatim_turn_request_seconds",
    "Time of requests for turns, from their whole body to the end of the answer",
    Metric::Type::kHistogram, kMicroseconds, kTimes};
constexpr Metric kFirstToken{"verbatim_turn_first_token_seconds",
                             "Time of answered turns until the first ids of the engine were here",
                             Metric::Type::kHistogram, kMicroseconds, kTimes};
constexpr Metric kStageSeconds{
    "verbatim_turn_stage_seconds",
    "Time that requests for turns spent in a stage; the stages of a request add up to its time",
    Metric::Type::kHistogram, kMicroseconds, kTimes};

constexpr std::string_view kChild = "child";
constexpr std::string_view kRoot = "root";
// As the planner says it. What is not here is counted as "other".
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kPlaces = {
    {{kChild, "history"},
     {kChild, "rollback"},
     {kChild, "profile"},
     {kRoot, "first"},
     {kRoot, "history"},
     {kRoot, "system"},
     {kRoot, "model"},
     {kRoot, "tools"},
     {kRoot, "arguments"},
     {kRoot, "retention"},
     {kRoot, "suffix"},
     {kRoot, "profile"},
     {kRoot, "rollback"}}};

std::uint64_t microseconds(base::Duration time) {
  return static_cast<std::uint64_t>(std::max<base::Duration::rep>(time.count(), 0));
}

}  // namespace

const Metric kTurnRequestsMetric{
    "verbatim_turn_requests_total",
    "Requests for turns, by protocol, by the door that named the session, and by outcome"};
const Metric kTurnsCommittedMetric{
    "verbatim_turns_committed_total",
    "Turns committed, by the mode of the session and by how they attached and why"};
const Metric kTurnsRunningMetric{"verbatim_turn_requests_running",
                                 "Requests for turns that have no end yet", Metric::Type::kGauge};

TurnMetrics::TurnMetrics(base::Metrics& metrics)
    : running_(&metrics.gauge(kTurnsRunningMetric)),
      ambiguous_(&metrics.counter(kAmbiguous)),
      prompt_(&metrics.counter(kPromptTokens)),
      cached_(&metrics.counter(kCachedTokens)),
      rendered_(&metrics.counter(kRenderedTokens)),
      sampled_(&metrics.counter(kSampledTokens)),
      discarded_(&metrics.counter(kDiscardedTokens)),
      whole_(&metrics.histogram(kWhole)),
      first_token_(&metrics.histogram(kFirstToken)) {
  for (std::size_t door = 0; door < kDoorKinds; ++door) {
    for (std::size_t outcome = 0; outcome < kTurnOutcomes; ++outcome) {
      requests_[door][outcome] =
          &metrics.counter(kTurnRequestsMetric, {{"protocol", "chat"},
                                                 {"door", kDoorKindNames[door]},
                                                 {"outcome", kTurnOutcomeNames[outcome]}});
    }
  }
  for (std::size_t mode = 0; mode < kSessionModes; ++mode) {
    const auto cell = [&](std::string_view kind, std::string_view reason) {
      return &metrics.counter(
          kTurnsCommittedMetric,
          {{"mode", name(static_cast<SessionMode>(mode))}, {"attach", kind}, {"reason", reason}});
    };
    for (const auto& [kind, reason] : kPlaces)
      places_[mode].by_reason.emplace(Key(kind, reason), cell(kind, reason));
    places_[mode].other = cell("other", "other");
  }
  for (std::size_t i = 0; i < kStages; ++i)
    stages_[i] = &metrics.histogram(kStageSeconds, {{"stage", kStageNames[i]}});
}

void TurnMetrics::ended(const TurnReport& report) {
  running_->add(-1);
  requests_[static_cast<std::size_t>(report.door)][static_cast<std::size_t>(report.outcome)]->add();
  whole_->observe(microseconds(report.watch.whole()));
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (report.watch.seen(stage)) stages_[i]->observe(microseconds(report.watch.spent(stage)));
  }
}

void TurnMetrics::committed(SessionMode mode, std::span<const trajectory::TurnPtr> turns) {
  for (const auto& turn : turns) {
    place_of(mode, turn->attach).add();
    if (turn->attach.ambiguous) ambiguous_->add();
    if (turn->times.first_token_us > 0)
      first_token_->observe(static_cast<std::uint64_t>(turn->times.first_token_us));
    count_tokens(*turn);
  }
}

base::Counter& TurnMetrics::place_of(SessionMode mode, const Attach& attach) {
  auto& places = places_[static_cast<std::size_t>(mode)];
  const auto it = places.by_reason.find(
      Key(attach.kind == Attach::Kind::kChild ? kChild : kRoot, attach.reason));
  return it == places.by_reason.end() ? *places.other : *it->second;
}

void TurnMetrics::count_tokens(const trajectory::Turn& turn) {
  const auto usage = usage_of(turn);
  prompt_->add(usage.prompt_tokens);
  cached_->add(usage.cached_tokens.value_or(0));
  sampled_->add(usage.completion_tokens);
  rendered_->add(turn.prompt.size());
  discarded_->add(turn.discarded.size());
}

}  // namespace verbatim::gateway
