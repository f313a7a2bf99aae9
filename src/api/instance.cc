#include "api/instance.h"

namespace verbatim::api {

using base::Task;

Instance::Instance(base::Runtime& runtime, gateway::Model& model,
                   std::unique_ptr<engine::Engine> engine, store::Store& store,
                   gateway::Recorder* recorder, std::string_view digest_key,
                   InstanceOptions options)
    : engine_(std::move(engine)),
      running_(options.running != nullptr ? *options.running : own_running_),
      runner_(runtime, model, *engine_, store, recorder, digest_key, options.runner),
      chat_(runtime, model, store, runner_, running_,
            options.replays != nullptr ? *options.replays : own_replays_),
      sessions_(runtime, model, store, recorder, running_, chat_),
      services_{runtime,
                model,
                *engine_,
                store,
                chat_,
                sessions_,
                options.keys != nullptr ? *options.keys : no_keys_,
                options.session_header},
      server_(
          runtime,
          [this](const net::Request& request, net::Responder& responder,
                 base::CancelSignal& cancel) {
            return route(services_, request, responder, cancel);
          },
          std::move(options.server)) {}

Task<void> Instance::drain(base::MonoTime deadline) {
  co_await server_.drain(deadline);
  co_await engine_->stop();
}

Task<base::Result<engine::Probe>> Instance::learn(base::MonoTime deadline) {
  return runner_.learn(deadline);
}

}  // namespace verbatim::api
