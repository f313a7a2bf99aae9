#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/task.h"
#include "gateway/handles.h"
#include "gateway/model.h"
#include "gateway/native_ids.h"
#include "gateway/stop_watch.h"
#include "gateway/turn_rules.h"
#include "json/value.h"
#include "message/message.h"
#include "message/sampling.h"
#include "net/http_types.h"
#include "protocol/conversation.h"
#include "store/store.h"
#include "trajectory/attach.h"

namespace verbatim::gateway {

// A turn as it was asked for, whatever the protocol.
struct TurnRequest {
  std::vector<message::Message> messages;
  std::vector<message::Tool> tools;
  message::Sampling sampling;
  std::string template_kwargs;                                   // raw JSON object; empty: none
  bool wants_tools = false;                                      // calls are meant
  std::string session_id;                                        // empty: stateless chat
  store::SessionUse session_use = store::SessionUse::kExisting;  // of `session_id`
  // kImplicit: what the first commit makes the session with.
  std::shared_ptr<const store::SessionSpec> session_spec;
  std::string owner;  // stateless chat: whose
  TurnRules rules;    // of the session
  // Of the agent; null: it has no profile. Lives as long as the model.
  const trajectory::Spelling* spelling = nullptr;
  std::optional<std::uint64_t> tokens_left;  // that the session may still add
  unsigned choices = 1;                      // answers to sample
  std::string request_id;
  std::string thread_id;
  std::string completion_id;
  std::string_view
      chat;  // the request as it came, for engines that read it; lives as long as the turn
  net::Headers headers;  // go up with the engine request; see headers_for_engine()
  // The message path: what of the request goes up beside messages and tools.
  std::string model;  // as the client names it; empty: not at all
  std::vector<protocol::RawMember> parameters;
  bool stream = false;
  // Where the client says behind which turn it goes on; null: by its history. `messages` begin with
  // that turn's, but for the instructions in front.
  trajectory::TurnPtr parent;
  StopWatch watch;  // of the request; planner and runner lap it
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
  const trajectory::Spelling* spelling = nullptr;  // by which the request was compared
  std::string head_arguments;                      // template arguments that make another root
  trajectory::Digest root_digest;
  trajectory::Digest history;  // of all messages of the request
  std::uint64_t max_new_tokens = 0;
  store::SessionUse session_use = store::SessionUse::kExisting;
  std::string session_id;
  std::string scope;  // within which turns are found and handles are good
};

// Plans turns. Reads the store (one query; one or two more for a request that does not go on behind
// the turn committed last), changes nothing. One per executor.
class Planner {
 public:
  // `key` makes digests unpredictable for clients; all that share a store share it.
  Planner(const Model& model, store::Store& store, std::string_view key);

  // Errors: kInvalidRequest naming the field (nothing new, last message the assistant's, a prompt
  // over the context, a history that a linear session does not take ...), kConflict (one that a
  // strict session does not take), what the renderer says, what the store says.
  base::Task<base::Result<Plan>> plan(TurnRequest& request);
  // The digest of a turn: the history of its request, then its answer.
  trajectory::Digest digest_of_answer(const Plan& plan, const message::Message& answer);

 private:
  base::Task<base::Result<Plan>> plan_messages(const TurnRequest& request);
  // Fills in what a root is known by; `root` but for the tools.
  void begin(const TurnRequest& request, trajectory::RootInfo root, Plan& plan);
  std::vector<trajectory::Digest> chain_of(const TurnRequest& request,
                                           const trajectory::Digest& root);
  // Why a request whose history is recorded below another root does not go on there.
  [[nodiscard]] std::string other_root(const trajectory::Turn& recorded, const Plan& plan) const;
  static base::Status check(const TurnRequest& request);
  base::Task<base::Status> attach(const TurnRequest& request, Plan& plan);
  base::Task<base::Status> attach_to_named(const TurnRequest& request, Plan& plan);
  base::Task<base::Status> attach_in_tree(const TurnRequest& request, Plan& plan);
  base::Task<base::Status> attach_to_tip(const TurnRequest& request, Plan& plan);
  base::Task<base::Status> add_named(const TurnRequest& request, const Plan& plan,
                                     std::span<const trajectory::Digest> chain,
                                     std::vector<trajectory::TurnPtr>& found);
  bool go_on_behind(const trajectory::TurnPtr& turn, const TurnRequest& request, Plan& plan);
  base::Task<base::Status> explain_root(const TurnRequest& request, trajectory::TurnPtr last,
                                        Plan& plan);
  // What the model calls the calls of the request, where the template prints that.
  base::Task<base::Result<NativeIds>> native_ids(const TurnRequest& request, const Plan& plan);
  base::Status render(TurnRequest& request, const std::optional<json::Document>& arguments,
                      NativeIds& ids, Plan& plan) const;
  base::Status render_root(std::span<const message::Message> messages,
                           const chat::TemplateInputs& inputs, NativeIds& ids, Plan& plan) const;
  base::Status render_child(const TurnRequest& request, const chat::TemplateInputs& inputs,
                            NativeIds& ids, Plan& plan) const;
  [[nodiscard]] bool prints_ids() const { return !model_.renderer->family().native_id.empty(); }
  static void assemble(Plan& plan);
  static std::string scope_of(const TurnRequest& request);
  // By messages the client's word for it goes up.
  [[nodiscard]] const std::string& model_of(const TurnRequest& request) const {
    return request.model.empty() ? model_.name : request.model;
  }
  static void settle_place(const TurnRequest& request, Plan& plan);
  base::Status budget(const TurnRequest& request, Plan& plan) const;

  const Model& model_;
  store::Store& store_;
  trajectory::DigestBuilder digests_;
  Handles handles_;
};

}  // namespace verbatim::gateway
