#include "net/server_metrics.h"

#include <algorithm>
#include <string>

namespace verbatim::net {
namespace {

constexpr int kOther = -1;
// What this program answers, and what engines do whose status it passes on.
constexpr std::array kKnown = {0,   200, 204, 304, 400, 401, 403, 404, 405, 408, 409, 413,
                               414, 422, 424, 429, 431, 499, 500, 501, 502, 503, 504, kOther};

std::string name(int status) {
  if (status == 0) return "none";
  return status == kOther ? "other" : std::to_string(status);
}

}  // namespace

const base::Metric kHttpAnswersMetric{
    "verbatim_http_answers_total",
    "HTTP requests by the status of their answer; none: the client was gone before it had one"};
const base::Metric kHttpConnectionsMetric{"verbatim_http_connections", "Connections of clients",
                                          base::Metric::Type::kGauge};

ServerMetrics::ServerMetrics(base::Metrics& metrics)
    : connections_(&metrics.gauge(kHttpConnectionsMetric)) {
  static_assert(kKnown.size() == kStatuses);
  for (std::size_t i = 0; i < kStatuses; ++i)
    answers_[i] = &metrics.counter(kHttpAnswersMetric, {{"code", name(kKnown[i])}});
}

void ServerMetrics::answered(int status) {
  const auto* at = std::find(kKnown.begin(), kKnown.end() - 1, status);
  answers_[static_cast<std::size_t>(at - kKnown.begin())]->add();
}

}  // namespace verbatim::net
