#include <string>
#include <utility>

#include "engine/dynamo/engine.h"
#include "engine/fields.h"
#include "engine/tiny_request.h"
#include "engine/upstream.h"
#include "json/value.h"

// What the frontend says of itself and its models.
namespace verbatim::engine::dynamo {
namespace {

using base::ErrorKind;
using base::MonoTime;
using base::Result;
using base::Status;
using base::Task;

constexpr std::size_t kMaxBody = 64 * 1024;

// The frontend takes a model's name with its slashes; all else that is special is escaped.
std::string path_of(std::string_view model) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string path;
  for (const char c : model) {
    if (kPlain.find(c) != std::string_view::npos) {
      path += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    path += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return path;
}

// What /openapi.json says the server is.
struct Info {
  std::string title;
  std::string version;
};
Info info_of(const json::Value& root) {
  const auto info = member_in(root, "info");
  return info ? Info{text_in(*info, "title"), text_in(*info, "version")} : Info{};
}

base::Error unavailable(std::string message) {
  return base::error(ErrorKind::kUnavailable, std::move(message));
}

}  // namespace

Task<Result<Probe>> DynamoEngine::list_models(MonoTime deadline) {
  const auto models = co_await peer_.get_json("/v1/models", deadline);
  if (!models.ok()) co_return models.error();
  if (!*models) co_return unavailable("no Dynamo here: found no /v1/models");
  Probe probe;
  // A length of 0: the worker did not say.
  probe.models = read_models((*models)->root(), "context_window");
  if (probe.models.empty()) co_return unavailable("the frontend has no model: no worker is there");
  adopt(probe);
  co_return probe;
}

void DynamoEngine::adopt(const Probe& probe) {
  listed_ = true;
  only_model_ = probe.models.size() == 1 ? probe.models.front().id : "";
}

Task<Result<Probe>> DynamoEngine::probe(MonoTime deadline) {
  auto probe = co_await list_models(deadline);
  if (!probe.ok()) co_return std::move(probe).error();
  const auto described = co_await peer_.get_json("/openapi.json", deadline);
  if (!described.ok()) co_return described.error();
  if (*described) probe->engine_version = info_of((*described)->root()).version;
  co_return std::move(probe);
}

// /health is good without any worker. /v1/models/{model}/ready (since 1.6) knows of the workers but
// not whether they answer.
Task<Status> DynamoEngine::ready(MonoTime deadline) {
  const auto listed = co_await list_models(deadline);
  if (!listed.ok()) co_return listed.error();
  const std::string& model = only_model_.empty() ? usual_model_ : only_model_;
  const std::string path = "/v1/models/" + path_of(model) + "/ready";
  auto response = co_await peer_.get(path, deadline);
  if (!response.ok()) co_return std::move(response).error();
  const int status = response->status();
  const auto body = co_await response->read_all(kMaxBody, deadline);
  if (status != 200 && !is_missing(status)) {
    const std::string said = body.ok() ? ": " + excerpt(*body, 200) : "";
    co_return unavailable("GET " + path + ": found status " + std::to_string(status) +
                          ", expected 200" + said);
  }
  auto sampled = co_await sample_one(*this, peer_.runtime(), deadline);
  co_return std::move(sampled);
}

Task<std::vector<Trace>> recognise(HttpPeer& peer, MonoTime deadline) {
  std::vector<Trace> traces;
  const auto page = co_await peer.get_json("/openapi.json", deadline);
  if (page.ok() && *page) {
    const Info info = info_of((*page)->root());
    if (info.title.starts_with("NVIDIA Dynamo"))
      traces.push_back({"GET /openapi.json: " + info.title + " " + info.version, info.version});
  }
  co_return traces;
}

}  // namespace verbatim::engine::dynamo
