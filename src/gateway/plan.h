#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/task.h"
#include "gateway/model.h"
#include "json/value.h"
#include "message/message.h"
#include "message/sampling.h"
#include "net/http_types.h"
#include "store/store.h"
#include "trajectory/attach.h"

namespace verbatim::gateway {

// A turn as it was asked for, whatever the protocol.
struct TurnRequest {
  std::vector<message::Message> messages;
  std::vector<message::Tool> tools;
  message::Sampling sampling;
  std::string template_kwargs;  // raw JSON object; empty: none
  bool wants_tools = false;     // calls are meant
  std::string session_id;       // empty: stateless chat
  std::string owner;            // stateless chat: whose
  std::string request_id;
  std::string thread_id;
  std::string completion_id;
  std::string_view
      chat;  // the request as it came, for engines that read it; lives as long as the turn
  net::Headers headers;  // go up with the engine request; see headers_for_engine()
};

// What will be done for a request: decided before anything is sent or changed.
struct Plan {
  Plan() = default;
  Plan(Plan&&) = default;  // `prompt` views what moves along; a copy would leave it behind
  Plan& operator=(Plan&&) = default;

  trajectory::TurnPtr parent;
  std::size_t suffix = 0;  // messages[suffix...] are new
  std::shared_ptr<const trajectory::RootInfo> root;
  trajectory::Attach attach;
  unsigned trim = 0;
  chat::Rendered rendered;  // ids behind the parent's row
  std::vector<std::span<const trajectory::TokenId>>
      prompt;  // all of it, in pieces that `parent` and `rendered` keep alive
  std::size_t prompt_size = 0;
  trajectory::Digest root_digest;
  trajectory::Digest history;  // of all messages of the request
  std::uint64_t max_new_tokens = 0;
  store::SessionUse session_use = store::SessionUse::kExisting;
  std::string session_id;
};

// Plans turns. Reads the store (one query; one more for a history that is not recorded), changes
// nothing. One per executor.
class Planner {
 public:
  // `key` makes digests unpredictable for clients; all that share a store share it.
  Planner(const Model& model, store::Store& store, std::string_view key);

  // Errors: kInvalidRequest naming the field (nothing new, last message the assistant's, a prompt
  // over the context ...), what the renderer says, what the store says.
  base::Task<base::Result<Plan>> plan(TurnRequest& request);
  // The digest of a turn: its history, then its answer.
  trajectory::Digest digest_of_answer(const trajectory::Digest& history,
                                      const message::Message& answer);

 private:
  base::Status check(const TurnRequest& request) const;
  base::Task<base::Status> attach(const TurnRequest& request, const std::string& head, Plan& plan);
  base::Task<base::Result<std::string>> reason_for_root(const TurnRequest& request,
                                                        const std::string& head);
  base::Status render(const TurnRequest& request, const std::optional<json::Document>& arguments,
                      Plan& plan) const;
  base::Status render_child(const TurnRequest& request, const chat::TemplateInputs& inputs,
                            Plan& plan) const;
  static void assemble(Plan& plan);
  base::Status budget(const TurnRequest& request, Plan& plan) const;
  trajectory::Digest root_digest(const TurnRequest& request, const trajectory::RootInfo& root,
                                 const std::string& head);

  const Model& model_;
  store::Store& store_;
  trajectory::DigestBuilder digests_;
};

}  // namespace verbatim::gateway
