#include "api/instance.h"

namespace verbatim::api {

using base::Task;

namespace {

constexpr base::Metric kEngineInfo{"verbatim_engine_info",
                                   "1, with what the engine is and how it is driven",
                                   base::Metric::Type::kGauge,
                                   0,
                                   {},
                                   base::Metric::Merge::kMax};

gateway::RunnerOptions counted(gateway::RunnerOptions options, gateway::TurnMetrics& turns) {
  options.metrics = &turns;
  return options;
}

}  // namespace

Instance::Instance(base::Runtime& runtime, gateway::Model& model,
                   std::unique_ptr<engine::Engine> engine, store::Store& store,
                   gateway::Recorder* recorder, std::string_view digest_key,
                   InstanceOptions options)
    : monitoring_(monitoring_or_own(options.monitoring, own_monitoring_, runtime.files)),
      turn_metrics_(monitoring_.metrics()),
      engine_(std::move(engine)),
      running_(options.running != nullptr ? *options.running : own_running_),
      runner_(runtime, model, *engine_, store, recorder, digest_key,
              counted(options.runner, turn_metrics_)),
      turns_(runtime, model, store, runner_, running_,
             options.replays != nullptr ? *options.replays : own_replays_,
             gateway::TurnReporting{&turn_metrics_, options.tell}),
      responses_(store),
      sessions_(runtime, model, store, recorder, running_, turns_),
      conversations_(runtime, model, store, running_, sessions_),
      services_{runtime,
                model,
                *engine_,
                store,
                turns_,
                responses_,
                sessions_,
                conversations_,
                options.keys != nullptr ? *options.keys : no_keys_,
                monitoring_,
                options.session_header},
      server_(
          runtime,
          [this](const net::Request& request, net::Responder& responder,
                 base::CancelSignal& cancel) {
            return route(services_, request, responder, cancel);
          },
          served(std::move(options.server), monitoring_)) {}

Task<void> Instance::drain(base::MonoTime deadline) {
  co_await server_.drain(deadline);
  co_await engine_->stop();
}

Task<base::Result<engine::Probe>> Instance::learn(base::MonoTime deadline) {
  auto probe = co_await runner_.learn(deadline);
  if (probe) show_engine(*probe);
  co_return std::move(probe);
}

void Instance::adopt(const engine::Probe& probe) {
  runner_.adopt(probe);
  show_engine(probe);
}

void Instance::show_engine(const engine::Probe& probe) {
  monitoring_.metrics()
      .gauge(
          kEngineInfo,
          {{"kind", engine_->kind()}, {"mode", engine_->mode()}, {"version", probe.engine_version}})
      .set(1);
}

}  // namespace verbatim::api
