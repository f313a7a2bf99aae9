#include <cstdint>
#include <utility>

#include "engine/sglang/answer_fields.h"
#include "engine/sglang/engine.h"
#include "engine/upstream.h"

// What the engine says of itself. Each answer is optional, and so is each field: releases differ,
// and routers pass some paths only.
namespace verbatim::engine::sglang {
namespace {

using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;
using json::Document;
using json::Value;

constexpr std::size_t kMaxProbe = std::size_t{4} << 20;

bool flag_in(const Value& object, std::string_view name) {
  const auto member = member_in(object, name);
  return member && member->is_bool() && member->boolean();
}

void read_server(const Value& root, Probe& probe) {
  probe.engine_version = text_in(root, "version");
  probe.context_length = count_in(root, "context_length");
  probe.max_input_tokens = count_in(root, "max_req_input_len");
  for (auto& model : probe.models) {
    if (model.max_model_len == 0) model.max_model_len = probe.context_length;
  }
}

}  // namespace

Task<Result<std::optional<Document>>> SglangEngine::get_either(std::string path, std::string older,
                                                               MonoTime deadline) {
  auto found = co_await peer_.get_json(path, deadline);
  if (!found.ok() || *found) co_return std::move(found);
  auto old = co_await peer_.get_json(older, deadline);
  co_return std::move(old);
}

Task<Result<Probe>> SglangEngine::probe(MonoTime deadline) {
  Probe probe;
  auto models = co_await peer_.get_json("/v1/models", deadline);
  if (!models.ok()) co_return std::move(models).error();
  if (*models) probe.models = read_models((*models)->root(), "max_model_len");
  auto model = co_await get_either("/model_info", "/get_model_info", deadline);
  if (!model.ok()) co_return std::move(model).error();
  if (*model) probe.weight_version = text_in((*model)->root(), "weight_version");
  auto server = co_await get_either("/server_info", "/get_server_info", deadline);
  if (!server.ok()) co_return std::move(server).error();
  if (*server) {
    const Value root = (*server)->root();
    read_server(root, probe);
    // The older name came first.
    probe.streams_new_only =
        flag_in(root, "incremental_streaming_output") || flag_in(root, "stream_output");
    probe.low_values_first = flag_in(root, "schedule_low_priority_values_first");
    adopt(probe);
  }
  if (!*models && !*model && !*server) {
    co_return base::error(ErrorKind::kUnavailable,
                          "no SGLang here: found none of /v1/models, /model_info, /server_info");
  }
  co_return probe;
}

void SglangEngine::adopt(const Probe& probe) {
  streams_new_only_ = probe.streams_new_only;
  low_values_first_ = probe.low_values_first;
  engine_version_ = probe.engine_version;
}

Task<Status> SglangEngine::ready(MonoTime deadline) {
  std::string path = "/health_generate";  // samples a token
  auto response = co_await peer_.get(path, deadline);
  if (response.ok() && is_missing(response->status())) {
    path = "/health";
    response = co_await peer_.get(path, deadline);
  }
  if (!response.ok()) co_return std::move(response).error();
  const int status = response->status();
  (void)co_await response->read_all(kMaxProbe, deadline);
  if (status == 200) co_return Status();
  co_return base::error(ErrorKind::kUnavailable, "GET " + path + ": found status " +
                                                     std::to_string(status) + ", expected 200");
}

Task<std::vector<Trace>> recognise(HttpPeer& peer, MonoTime deadline) {
  std::vector<Trace> traces;
  for (const char* path : {"/server_info", "/get_server_info", "/model_info"}) {
    const auto page = co_await peer.get_json(path, deadline);
    if (!page.ok() || !*page) continue;
    const Value root = (*page)->root();
    const std::string release = text_in(root, "version");
    if (!release.empty()) {
      traces.push_back({std::string("GET ") + path + ": version " + release, release});
    } else if (member_in(root, "model_path")) {
      traces.push_back({std::string("GET ") + path + ": model_path", ""});
    }
    if (!traces.empty()) break;
  }
  co_return traces;
}

}  // namespace verbatim::engine::sglang
