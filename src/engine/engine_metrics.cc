#include "engine/engine_metrics.h"

#include "engine/pool/health.h"

namespace verbatim::engine {

using base::Metric;

namespace {

constexpr std::array<std::string_view, 7> kOutcomeNames = {
    "answered", "refused", "busy", "failed", "timeout", "unreachable", "aborted"};

}  // namespace

const Metric kEngineRequestsMetric{"verbatim_engine_requests_total",
                                   "Requests that sample, by engine and by what became of them"};
const Metric kEngineRunningMetric{"verbatim_engine_requests_running",
                                  "Requests that sample and have no end yet", Metric::Type::kGauge};
const Metric kEngineUpMetric{"verbatim_engine_up",
                             "1: the engine answers, as far as some thread of the gateway can tell",
                             Metric::Type::kGauge,
                             0,
                             {},
                             Metric::Merge::kMax};

EngineMetrics::EngineMetrics(base::Metrics& metrics, std::string_view url)
    : running_(&metrics.gauge(kEngineRunningMetric, {{"engine", url}})),
      up_(&metrics.gauge(kEngineUpMetric, {{"engine", url}})) {
  for (std::size_t i = 0; i < kOutcomes; ++i)
    requests_[i] =
        &metrics.counter(kEngineRequestsMetric, {{"engine", url}, {"outcome", kOutcomeNames[i]}});
}

EngineMetrics::Request::~Request() {
  if (of_ == nullptr) return;
  if (!ended_) of_->requests_[static_cast<std::size_t>(Outcome::kAborted)]->add();
  of_->running_->add(-1);
}

void EngineMetrics::Request::ended(const base::Error* failure) {
  if (std::exchange(ended_, true)) return;
  of_->requests_[static_cast<std::size_t>(outcome_of(failure))]->add();
  of_->note(failure);
}

EngineMetrics::Outcome EngineMetrics::outcome_of(const base::Error* failure) {
  if (failure == nullptr) return Outcome::kAnswered;
  if (failure->kind == base::ErrorKind::kCancelled) return Outcome::kAborted;
  if (failure->kind == base::ErrorKind::kTimeout && !failure->upstream) return Outcome::kTimeout;
  switch (pool::sign_of(*failure)) {
    case pool::Sign::kBusy:
      return Outcome::kBusy;
    case pool::Sign::kStrike:
      return Outcome::kFailed;
    case pool::Sign::kUnreachable:
      return Outcome::kUnreachable;
    case pool::Sign::kSilent:
      return Outcome::kTimeout;
    case pool::Sign::kNothing:
      break;
  }
  return Outcome::kRefused;
}

void EngineMetrics::note(const base::Error* failure) {
  switch (outcome_of(failure)) {
    case Outcome::kAnswered:
    case Outcome::kBusy:
      return set_up(true);
    case Outcome::kFailed:
    case Outcome::kTimeout:
    case Outcome::kUnreachable:
      return set_up(false);
    case Outcome::kRefused:
    case Outcome::kAborted:
      return;
  }
}

}  // namespace verbatim::engine
