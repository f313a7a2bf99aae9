#include "engine/inspect.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/fields.h"
#include "engine/http_peer.h"
#include "engine/tiny_request.h"

namespace verbatim::engine {
namespace {

using base::ErrorKind;
using base::Result;
using base::Status;
using base::Task;
using json::Value;

// The commonest name, for servers that nobody owns.
constexpr std::string_view kContext = "max_model_len";

bool is_known(const Identity& identity, std::string_view kind) {
  return std::find(identity.kinds.begin(), identity.kinds.end(), kind) != identity.kinds.end();
}

void speaks_for(Identity& identity, std::string_view kind) {
  if (!is_known(identity, kind)) identity.kinds.emplace_back(kind);
}

void read_owner(const Value& models, Identity& identity) {
  const auto data = member_in(models, "data");
  identity.lists_models = data && data->is_array();
  if (!data || !data->is_array() || data->empty()) {
    identity.evidence.emplace_back("GET /v1/models: no model");
    return;
  }
  const std::string owner = text_in((*data->begin()).value, "owned_by");
  identity.evidence.push_back("GET /v1/models: owned_by " + (owner.empty() ? "nobody" : owner));
  for (const Kind& kind : kinds()) {
    if (!owner.empty() && owner == kind.owner) speaks_for(identity, kind.name);
  }
}

std::string known_products() {
  std::string out;
  for (const Kind& kind : kinds()) {
    out.append(out.empty() ? "" : ", ").append(kind.product);
    out.append(" (--engine-kind ").append(kind.name).append(")");
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines, const char* between) {
  std::string out;
  for (const auto& line : lines) out.append(out.empty() ? "" : between).append(line);
  return out;
}

base::Error refused(const Identity& identity, const std::string& what) {
  return base::error(ErrorKind::kUnsupported,
                     what + " (seen: " + joined(identity.evidence, "; ") + ")");
}

// The kind that any server of the public protocol is, where nothing more is known of it.
std::string public_kind() {
  const auto at = std::find_if(kinds().begin(), kinds().end(),
                               [](const Kind& kind) { return kind.recognise == nullptr; });
  return std::string(at->name);
}

std::string product(std::string_view kind) {
  const Kind* known = find_kind(kind);
  return std::string(known == nullptr ? kind : known->product);
}

Status check_release(const Choice& choice, const Identity& identity) {
  const Kind* kind = find_kind(choice.kind);
  const Mode* mode = kind == nullptr ? nullptr : find_mode(*kind, choice.mode);
  if (kind != nullptr && mode == nullptr) {
    return refused(identity, choice.mode + " is no mode of " + choice.kind +
                                 ": say --engine-mode, of " + mode_names(*kind));
  }
  const bool said = identity.kinds.size() == 1 && identity.kinds[0] == choice.kind;
  // The number of a development build says little: whether ids are read will show.
  const bool counts = said && identity.release.find("dev") == std::string::npos;
  if (mode == nullptr || !counts || release_has(identity.release, mode->since)) return {};
  std::string remedy =
      "use " + std::string(kind->product) + " " + std::string(mode->since) + " or later";
  for (const Mode& other : kind->modes) {
    if (other.path == mode->path && release_has(identity.release, other.since))
      remedy += ", or --engine-mode " + std::string(other.name);
  }
  return refused(identity, "mode " + std::string(mode->name) + " needs " +
                               std::string(kind->product) + " " + std::string(mode->since) +
                               ", found " + identity.release + ": " + remedy);
}

const Mode* mode_named(std::string_view kind_name, std::string_view mode_name) {
  const Kind* kind = find_kind(kind_name);
  return kind == nullptr ? nullptr : find_mode(*kind, mode_name);
}

// No token has to be sampled to see that ids are read.
bool ids_are_plain(const Choice& choice, const Identity& identity) {
  const Mode* mode = mode_named(choice.kind, choice.mode);
  return mode != nullptr && mode->ids_are_plain && !mode->switched &&
         is_known(identity, choice.kind);
}

}  // namespace

Task<Result<Identity>> identify(base::Runtime& runtime, const Choice& choice,
                                base::MonoTime deadline) {
  HttpPeer peer(runtime, peer_of(choice));
  Identity identity;
  auto models = co_await peer.get_json("/v1/models", deadline);
  // An answer with an error status is an answer.
  const bool answers = models.ok() || models.error().kind == ErrorKind::kEngine;
  if (models.ok() && *models) {
    read_owner((*models)->root(), identity);
    const Kind* kind = identity.kinds.empty() ? nullptr : find_kind(identity.kinds[0]);
    identity.models = read_models((*models)->root(), kind == nullptr ? kContext : kind->context);
  }
  std::map<std::string_view, std::string> releases;
  for (const Kind& kind : kinds()) {
    if (!answers) break;
    if (kind.recognise == nullptr) continue;
    auto traces = co_await kind.recognise(peer, deadline);
    for (auto& trace : traces) {
      speaks_for(identity, kind.name);
      identity.evidence.push_back(std::move(trace.evidence));
      if (!trace.release.empty()) releases[kind.name] = std::move(trace.release);
    }
  }
  co_await peer.stop();
  if (!answers) co_return std::move(models).error();
  if (identity.kinds.size() == 1) identity.release = releases[identity.kinds[0]];
  co_return identity;
}

Result<Choice> settle(Choice choice, const Identity& identity) {
  if (choice.kind == "auto" && identity.kinds.empty() && identity.lists_models) {
    choice.kind = public_kind();
  } else if (choice.kind == "auto") {
    if (identity.kinds.empty()) {
      return refused(identity, "what engine this is could not be told: say --engine-kind, of " +
                                   known_products());
    }
    if (identity.kinds.size() > 1) {
      return refused(identity, "this answers as " + joined(identity.kinds, " and as ") +
                                   ": say which it is with --engine-kind");
    }
    choice.kind = identity.kinds[0];
  } else if (!identity.kinds.empty() && !is_known(identity, choice.kind) &&
             choice.kind != public_kind()) {
    return refused(identity, "--engine-kind " + choice.kind + " was said, but this is " +
                                 joined(identity.kinds, " and ") + ": a request by ids would be " +
                                 "refused, or its ids ignored; say --engine-kind " +
                                 identity.kinds[0] + ", or point --engine at a " +
                                 product(choice.kind) + " server");
  }
  if (auto status = check_release(choice, identity); !status.ok()) return status.error();
  return choice;
}

Task<Status> honours_ids(Engine& engine, base::Runtime& runtime, std::string model,
                         base::MonoTime deadline) {
  const std::string how =
      std::string(engine.kind()) + " in mode " + std::string(engine.mode()) + ": ";
  if (model.empty())
    co_return base::error(ErrorKind::kUnavailable, how + "the server lists no model yet");
  auto end = co_await prove_one(engine, runtime, deadline, std::move(model));
  const Mode* mode = mode_named(engine.kind(), engine.mode());
  const bool plain = mode != nullptr && mode->ids_are_plain;
  if (end.ok() && (end->prompt_is_proved || plain)) co_return Status();
  if (end.ok()) {
    co_return base::error(ErrorKind::kEngine,
                          how +
                              "it answers, but says nothing of the prompt that it read: a newer "
                              "release reports how many tokens there were");
  }
  base::Error error = std::move(end).error();
  if (error.upstream && is_missing(error.upstream->status)) {
    error.kind = ErrorKind::kUnsupported;
    error.message = how + "the server lacks the route of this mode (" + error.message +
                    "): choose another --engine-mode, or switch the route on at the server";
    error.upstream = nullptr;
  } else if (error.code == "malformed_answer") {
    error.kind = ErrorKind::kUnsupported;
    error.message = how + "the server does not answer to the ids it was sent: " + error.message;
  }
  co_return error;
}

namespace {

// The status of the answer to an empty request.
Task<Result<int>> refusal_at(HttpPeer& peer, std::string_view route, base::MonoTime deadline) {
  constexpr std::size_t kMaxRefusal = std::size_t{1} << 20;
  HttpPeer::Sent sent;
  sent.deadline = deadline;
  auto answer = co_await peer.post(route, "{}", std::move(sent));
  if (!answer.ok()) co_return std::move(answer).error();
  const int status = answer->status();
  (void)co_await answer->read_all(kMaxRefusal, deadline);
  co_return status;
}

}  // namespace

Task<Status> has_route(base::Runtime& runtime, const Choice& choice, base::MonoTime deadline) {
  const Mode& mode = *mode_named(choice.kind, choice.mode);
  HttpPeer peer(runtime, peer_of(choice));
  const auto status = co_await refusal_at(peer, mode.route, deadline);
  co_await peer.stop();
  if (!status.ok()) co_return status.error();
  if (!is_missing(*status)) co_return Status();
  std::string remedy = mode.flag.empty() ? "switch the route on at the server"
                                         : "start the server with " + std::string(mode.flag);
  co_return base::error(ErrorKind::kUnsupported,
                        choice.kind + " in mode " + std::string(mode.name) +
                            ": the server lacks the route of this mode (POST " +
                            std::string(mode.route) + " is a " + std::to_string(*status) +
                            "): " + remedy + ", or choose another --engine-mode, of " +
                            mode_names(*find_kind(choice.kind), Path::kMessages));
}

Task<Result<Inspected>> inspect(base::Runtime& runtime, const Choice& choice,
                                base::MonoTime deadline) {
  Inspected found;
  found.choice = choice;
  const auto pages = std::make_shared<KnownPages>();
  Choice asking = choice;
  asking.known = pages;
  auto identity = co_await identify(runtime, asking, deadline);
  if (!identity.ok()) {
    found.reached = std::move(identity).error();
    co_return std::move(found);
  }
  found.identity = std::move(*identity);
  auto settled = settle(choice, found.identity);
  if (!settled.ok()) co_return std::move(settled).error();
  found.choice = std::move(*settled);
  asking = found.choice;
  asking.known = pages;
  const Path path = path_of(found.choice);
  auto engine = make_engine(runtime, asking);
  if (!engine.ok() && path != Path::kRelay) co_return std::move(engine).error();
  if (!engine.ok()) {
    found.fits = std::move(engine).error();
    co_return std::move(found);
  }
  found.engine = std::move(*engine);
  auto probe = co_await found.engine->probe(deadline);
  if (!probe.ok()) {
    found.fits = std::move(probe).error();
    co_return std::move(found);
  }
  found.probe = std::move(*probe);
  if (path == Path::kTokens && !ids_are_plain(found.choice, found.identity)) {
    const auto& models = found.probe->models;
    std::string model = models.empty() ? std::string() : models[0].id;
    found.fits = co_await honours_ids(*found.engine, runtime, std::move(model), deadline);
  }
  // Without a model some servers have no route either.
  if (path == Path::kMessages && !found.probe->models.empty())
    found.fits = co_await has_route(runtime, found.choice, deadline);
  co_return std::move(found);
}

}  // namespace verbatim::engine
