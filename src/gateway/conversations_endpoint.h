#pragma once

#include <string>

#include "base/runtime.h"
#include "gateway/access.h"
#include "gateway/model.h"
#include "gateway/running_turns.h"
#include "gateway/sessions_endpoint.h"
#include "net/http_server.h"
#include "store/store.h"

namespace verbatim::gateway {

// /v1/conversations: a conversation is a session with items, of the same id; its turns are those of
// POST /v1/responses that name it. One of another owner is none. A request that changes items is a
// writer like a turn: while another writes it gets 409. Each call answers the request in every
// case; reading changes nothing.
class ConversationsEndpoint {
 public:
  ConversationsEndpoint(base::Runtime& runtime, const Model& model, store::Store& store,
                        RunningTurns& running, SessionsEndpoint& sessions)
      : runtime_(runtime), model_(model), store_(store), running_(running), sessions_(sessions) {}

  base::Task<void> create(const net::Request& http, net::Responder& responder, Caller caller);
  base::Task<void> get(net::Responder& responder, const Caller& caller, std::string id);
  // Metadata, in place of what it has.
  base::Task<void> update(const net::Request& http, net::Responder& responder, const Caller& caller,
                          std::string id);
  // With its items, turns and responses; what runs in it is told to stop.
  base::Task<void> remove(net::Responder& responder, const Caller& caller, std::string id);

  base::Task<void> add_items(const net::Request& http, net::Responder& responder,
                             const Caller& caller, std::string id);
  base::Task<void> list_items(const net::Request& http, net::Responder& responder,
                              const Caller& caller, std::string id);
  base::Task<void> get_item(net::Responder& responder, const Caller& caller, std::string id,
                            std::string item);
  base::Task<void> remove_item(net::Responder& responder, const Caller& caller, std::string id,
                               std::string item);

 private:
  base::Task<base::Result<store::Conversation>> find(const Caller& caller, std::string id);
  // A change by a writer: kConflict while there is another.
  base::Task<base::Result<store::Conversation>> write(store::ConversationChange change);

  base::Runtime& runtime_;
  const Model& model_;
  store::Store& store_;
  RunningTurns& running_;
  SessionsEndpoint& sessions_;
};

// kNotFound with the remedy; `what` begins the message. An id of strange bytes is not repeated.
base::Error no_conversation(std::string_view id, std::string_view what = "conversation not found");
// kConflict: another request writes to the conversation.
base::Error conversation_locked();

}  // namespace verbatim::gateway
