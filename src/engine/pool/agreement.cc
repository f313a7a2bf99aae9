#include "engine/pool/agreement.h"

#include <algorithm>

namespace verbatim::engine::pool {
namespace {

const ModelInfo* model_named(const Probe& probe, const std::string& id) {
  const auto at = std::find_if(probe.models.begin(), probe.models.end(),
                               [&](const ModelInfo& model) { return model.id == id; });
  return at == probe.models.end() ? nullptr : &*at;
}

std::uint64_t context_of(const Probe& probe, const ModelInfo& model) {
  return model.max_model_len != 0 ? model.max_model_len : probe.context_length;
}

std::optional<std::string> context_difference(std::uint64_t found, std::uint64_t expected) {
  if (found == 0 || expected == 0 || found == expected) return std::nullopt;
  return "found a context length of " + std::to_string(found) + ", expected " +
         std::to_string(expected);
}

std::uint64_t smaller_known(std::uint64_t a, std::uint64_t b) {
  return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b);
}

}  // namespace

std::optional<std::string> difference(const Probe& found, const Probe& expected) {
  if (found.models.empty() || expected.models.empty())
    return context_difference(found.context_length, expected.context_length);
  bool some_shared = false;
  for (const auto& model : found.models) {
    const ModelInfo* same = model_named(expected, model.id);
    if (same == nullptr) continue;
    some_shared = true;
    if (auto differs = context_difference(context_of(found, model), context_of(expected, *same)))
      return differs;
  }
  if (some_shared) return std::nullopt;
  return "found model \"" + found.models.front().id + "\", expected \"" +
         expected.models.front().id + "\"";
}

std::optional<std::string> difference(const Engine& found, const Engine& expected) {
  const auto way = [](const Engine& engine) {
    return std::string(engine.kind()) + " in mode " + std::string(engine.mode());
  };
  if (way(found) == way(expected)) return std::nullopt;
  return "found " + way(found) + ", expected " + way(expected);
}

Probe merged(Probe a, const Probe& b) {
  if (a.engine_version.empty()) a.engine_version = b.engine_version;
  if (a.weight_version != b.weight_version) a.weight_version.clear();
  if (a.models.empty()) a.models = b.models;
  for (auto& model : a.models) {
    const ModelInfo* same = model_named(b, model.id);
    if (same != nullptr && model.max_model_len == 0) model.max_model_len = same->max_model_len;
  }
  if (a.context_length == 0) a.context_length = b.context_length;
  a.max_input_tokens = smaller_known(a.max_input_tokens, b.max_input_tokens);
  return a;
}

}  // namespace verbatim::engine::pool
