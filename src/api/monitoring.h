#pragma once

#include <optional>
#include <string_view>

#include "base/files.h"
#include "base/metrics.h"
#include "base/process.h"
#include "base/task.h"
#include "net/http_server.h"

namespace verbatim::api {

// All that a gateway counts, and GET /metrics. Shared by all instances, outlives them; thread-safe.
class Monitoring {
 public:
  // Where `files` have no /proc, nothing is said of the process.
  explicit Monitoring(base::Files& files) : process_(metrics_, files) {}

  [[nodiscard]] base::Metrics& metrics() { return metrics_; }
  void set_version(std::string_view version);

  // The text that a scraper asks for. Looks at nothing but what was counted, so that it is answered
  // while engines and store are not.
  base::Task<void> get(const net::Request& http, net::Responder& responder);

 private:
  base::Metrics metrics_;
  base::ProcessMetrics process_;
};

// The one that is given, else an own one.
inline Monitoring& monitoring_or_own(Monitoring* shared, std::optional<Monitoring>& own,
                                     base::Files& files) {
  return shared != nullptr ? *shared : own.emplace(files);
}
// The server of a gateway: it counts there, and each of its answers has a request id.
net::ServerOptions served(net::ServerOptions server, Monitoring& monitoring);

}  // namespace verbatim::api
