#include "api/instance.h"

namespace verbatim::api {

using base::Task;

Instance::Instance(base::Runtime& runtime, gateway::Model& model,
                   std::unique_ptr<engine::Engine> engine, store::Store& store,
                   gateway::Recorder* recorder, std::string_view digest_key,
                   InstanceOptions options)
    : model_(model),
      engine_(std::move(engine)),
      running_(options.running != nullptr ? *options.running : own_running_),
      runner_(runtime, model, *engine_, store, recorder, digest_key, options.runner),
      chat_(runtime, model, store, runner_, running_),
      services_{runtime, model, *engine_, store, recorder, chat_, running_},
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
  auto probe = co_await engine_->probe(deadline);
  if (!probe) co_return std::move(probe).error();
  // A gateway serves one model; where the engine lists several the one of that name counts.
  std::uint64_t context = probe->context_length;
  for (const auto& info : probe->models) {
    const bool ours = probe->models.size() == 1 || info.id == model_.name;
    if (ours && info.max_model_len != 0) context = info.max_model_len;
  }
  if (context != 0) model_.max_model_len.store(context);
  co_return probe;
}

}  // namespace verbatim::api
