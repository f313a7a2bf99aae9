#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "base/metrics.h"
#include "base/result.h"

namespace verbatim::engine {

extern const base::Metric kEngineRequestsMetric;
extern const base::Metric kEngineRunningMetric;
extern const base::Metric kEngineUpMetric;

// Counts what becomes of the requests to one engine. One per engine and executor.
class EngineMetrics {
 public:
  EngineMetrics(base::Metrics& metrics, std::string_view url);

  // A request that runs; counted at its end, or as aborted where it has none.
  class Request {
   public:
    explicit Request(EngineMetrics& of) : of_(&of) { of.running_->add(1); }
    Request(Request&& other) noexcept
        : of_(std::exchange(other.of_, nullptr)), ended_(other.ended_) {}
    Request& operator=(Request&&) = delete;
    ~Request();
    // Null: it was answered. Once.
    void ended(const base::Error* failure);

   private:
    EngineMetrics* of_;
    bool ended_ = false;
  };

  // It was asked what it is; null: it said so.
  void asked(const base::Error* failure) { note(failure); }
  void set_up(bool up) { up_->set(up ? 1 : 0); }

 private:
  enum class Outcome : std::size_t {
    kAnswered,
    kRefused,      // the request's own fault, or fate
    kBusy,         // over the engine's limits
    kFailed,       // cut, malformed, 5xx
    kTimeout,      // nothing came in time
    kUnreachable,  // no connection came about
    kAborted,      // by this side
  };
  static constexpr std::size_t kOutcomes = 7;
  static Outcome outcome_of(const base::Error* failure);
  // Whether it is up, as far as one can tell.
  void note(const base::Error* failure);

  base::Gauge *running_, *up_;
  std::array<base::Counter*, kOutcomes> requests_{};
};

}  // namespace verbatim::engine
