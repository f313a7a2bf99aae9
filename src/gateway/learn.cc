#include "gateway/learn.h"

namespace verbatim::gateway {

base::Task<base::Result<engine::Probe>> learn(const Model& model, engine::Engine& engine,
                                              base::MonoTime deadline) {
  auto probe = co_await engine.probe(deadline);
  if (!probe) co_return std::move(probe).error();
  keep(model, *probe);
  co_return probe;
}

void keep(const Model& model, const engine::Probe& probe) {
  // A gateway serves one model; where the engine lists several the one of that name counts.
  std::uint64_t context = probe.context_length;
  for (const auto& info : probe.models) {
    const bool ours = probe.models.size() == 1 || info.id == model.name;
    if (ours && info.max_model_len != 0) context = info.max_model_len;
  }
  std::uint64_t unknown = 0;
  if (context != 0) model.max_model_len.compare_exchange_strong(unknown, context);
}

}  // namespace verbatim::gateway
