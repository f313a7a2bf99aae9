#pragma once

#include <string>

#include "base/runtime.h"
#include "gateway/access.h"
#include "gateway/model.h"
#include "gateway/recorder.h"
#include "gateway/running_turns.h"
#include "gateway/turn_endpoint.h"
#include "net/http_server.h"
#include "store/store.h"

namespace verbatim::gateway {

// POST, GET and DELETE of /sessions. A session of another owner is none, and a session's secret
// opens its chat alone. Each call answers the request in every case; reading changes nothing.
class SessionsEndpoint {
 public:
  SessionsEndpoint(base::Runtime& runtime, const Model& model, store::Store& store,
                   Recorder* recorder, RunningTurns& running, const TurnEndpoint& chat)
      : runtime_(runtime),
        model_(model),
        store_(store),
        recorder_(recorder),
        running_(running),
        chat_(chat) {}

  base::Task<void> create(const net::Request& http, net::Responder& responder, Caller caller);
  base::Task<void> list(const net::Request& http, net::Responder& responder, Caller caller);
  // A page where the client is a browser, else JSON.
  base::Task<void> get(const net::Request& http, net::Responder& responder, Caller caller,
                       std::string id);
  base::Task<void> tree(net::Responder& responder, Caller caller, std::string id);
  // Answers at once: what runs in the session is told to stop, and not waited for.
  base::Task<void> remove(net::Responder& responder, Caller caller, std::string id);
  // Deletes a session that is the caller's to delete, as remove() does. `turns`: those it has, as
  // far as the caller knows.
  base::Task<base::Status> end(std::string id, std::uint64_t turns);

 private:
  base::Task<base::Result<store::SessionInfo>> find(const Caller& caller, std::string id);

  base::Runtime& runtime_;
  const Model& model_;
  store::Store& store_;
  Recorder* recorder_;  // null: no record files
  RunningTurns& running_;
  const TurnEndpoint& chat_;  // of the sessions' turns
};

// kUnauthorized: who shows a session's secret makes and deletes none.
base::Status check_not_secret(const Caller& caller);
// The session of that id which is the caller's to use. kNotFound with the remedy.
base::Task<base::Result<store::SessionInfo>> session_of(store::Store& store, const Caller& caller,
                                                        std::string id);

}  // namespace verbatim::gateway
