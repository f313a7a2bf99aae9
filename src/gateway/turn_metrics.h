#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "gateway/turn_report.h"

namespace verbatim::gateway {

// Rows of what is counted, for whoever reads single values back.
extern const base::Metric kTurnRequestsMetric;
extern const base::Metric kTurnsCommittedMetric;
extern const base::Metric kTurnsRunningMetric;

// Counts requests for turns, and turns. One per executor.
class TurnMetrics {
 public:
  explicit TurnMetrics(base::Metrics& metrics);

  // A request for turns came in; it ends with ended().
  void began() { running_->add(1); }
  void ended(const TurnReport& report);
  // The store has taken these: siblings, the answers to one request.
  void committed(SessionMode mode, std::span<const trajectory::TurnPtr> turns);

 private:
  using Key = std::pair<std::string_view, std::string_view>;
  struct Places {
    std::map<Key, base::Counter*> by_reason;  // kind and reason
    base::Counter* other = nullptr;
  };
  base::Counter& place_of(SessionMode mode, const trajectory::Attach& attach);
  void count_tokens(const trajectory::Turn& turn);

  base::Gauge* running_;
  std::array<std::array<base::Counter*, kTurnOutcomes>, kDoorKinds> requests_{};
  std::array<Places, kSessionModes> places_;
  base::Counter* ambiguous_;
  base::Counter *prompt_, *cached_, *rendered_, *sampled_, *discarded_;
  base::Histogram *whole_, *first_token_;
  std::array<base::Histogram*, kStages> stages_{};
};

}  // namespace verbatim::gateway
