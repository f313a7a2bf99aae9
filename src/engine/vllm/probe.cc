#include <utility>

#include "engine/fields.h"
#include "engine/vllm/engine.h"

// What the server says of itself. Each answer is optional, and so is each field: releases differ,
// and routers pass some paths only.
namespace verbatim::engine::vllm {

using base::MonoTime;
using base::Result;
using base::Task;

Task<Result<Probe>> VllmEngine::probe(MonoTime deadline) {
  Probe probe;
  auto models = co_await peer_.get_json("/v1/models", deadline);
  if (!models.ok()) co_return std::move(models).error();
  if (*models) probe.models = read_models((*models)->root(), "max_model_len");
  auto version = co_await peer_.get_json("/version", deadline);
  if (!version.ok()) co_return std::move(version).error();
  if (*version) probe.engine_version = text_in((*version)->root(), "version");
  if (!*models && !*version) {
    co_return base::error(base::ErrorKind::kUnavailable,
                          "no vLLM here: found neither /v1/models nor /version");
  }
  // Served with VLLM_SERVER_DEV_MODE=1 only.
  auto weights = co_await peer_.get_json("/weight_info", deadline);
  if (weights.ok() && *weights)
    probe.weight_version = text_in((*weights)->root(), "weight_version");
  adopt(probe);
  if (!model_.empty()) probe.context_length = probe.models[0].max_model_len;
  co_return probe;
}

void VllmEngine::adopt(const Probe& probe) {
  model_ = probe.models.size() == 1 ? probe.models[0].id : "";
}

Task<std::vector<Trace>> recognise(HttpPeer& peer, MonoTime deadline) {
  std::vector<Trace> traces;
  const auto page = co_await peer.get_json("/version", deadline);
  if (page.ok() && *page) {
    const std::string release = text_in((*page)->root(), "version");
    if (!release.empty()) traces.push_back({"GET /version: version " + release, release});
  }
  co_return traces;
}

}  // namespace verbatim::engine::vllm
