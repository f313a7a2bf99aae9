#include "api/monitoring.h"

namespace verbatim::api {
namespace {

constexpr base::Metric kBuild{"verbatim_build_info", "1, with the version of this program",
                              base::Metric::Type::kGauge};

}  // namespace

void Monitoring::set_version(std::string_view version) {
  metrics_.gauge(kBuild, {{"version", version}}).set(1);
}

net::ServerOptions served(net::ServerOptions server, Monitoring& monitoring) {
  server.metrics = &monitoring.metrics();
  server.request_ids = true;
  return server;
}

base::Task<void> Monitoring::get(const net::Request& http, net::Responder& responder) {
  process_.refresh();
  const auto format = base::Metrics::format_of(http.headers.find("accept"));
  const std::string text = metrics_.text(format);
  (void)co_await responder.send(200, base::Metrics::content_type(format), text);
}

}  // namespace verbatim::api
