#pragma once

#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace verbatim::store::testing {

// A store in front of another one: what wrappers in tests begin with.
class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(Store& inner) : inner_(inner) {}

  base::Task<base::Status> create_session(SessionSpec spec) override {
    return inner_.create_session(std::move(spec));
  }
  base::Task<base::Result<std::optional<SessionInfo>>> session(std::string id) override {
    return inner_.session(std::move(id));
  }
  base::Task<base::Result<std::optional<SessionInfo>>> session_of_secret(
      std::string secret_hash) override {
    return inner_.session_of_secret(std::move(secret_hash));
  }
  base::Task<base::Result<std::vector<SessionInfo>>> sessions(SessionQuery query) override {
    return inner_.sessions(std::move(query));
  }
  base::Task<base::Status> delete_session(std::string id) override {
    return inner_.delete_session(std::move(id));
  }
  base::Task<base::Result<IdleSessions>> idle_sessions(IdleQuery query) override {
    return inner_.idle_sessions(std::move(query));
  }
  base::Task<base::Result<bool>> expire_session(std::string id, std::int64_t before_ms) override {
    return inner_.expire_session(std::move(id), before_ms);
  }
  base::Task<base::Result<std::vector<TurnPtr>>> turns(std::string session_id) override {
    return inner_.turns(std::move(session_id));
  }
  base::Task<base::Result<TurnPtr>> last_turn(std::string session_id) override {
    return inner_.last_turn(std::move(session_id));
  }
  base::Task<base::Result<std::vector<TurnPtr>>> commit(NewTurns added) override {
    return inner_.commit(std::move(added));
  }
  base::Task<base::Result<StoredResponsePtr>> response(std::string id) override {
    return inner_.response(std::move(id));
  }
  base::Task<base::Result<bool>> delete_response(std::string id) override {
    return inner_.delete_response(std::move(id));
  }
  base::Task<base::Status> create_conversation(SessionSpec spec,
                                               ConversationChange first) override {
    return inner_.create_conversation(std::move(spec), std::move(first));
  }
  base::Task<base::Result<std::optional<Conversation>>> conversation(std::string id) override {
    return inner_.conversation(std::move(id));
  }
  base::Task<base::Result<Conversation>> change_conversation(ConversationChange change) override {
    return inner_.change_conversation(std::move(change));
  }
  base::Task<base::Result<ConversationItems>> conversation_items(ItemQuery query) override {
    return inner_.conversation_items(std::move(query));
  }
  base::Task<base::Result<std::vector<TurnPtr>>> find(
      std::span<const trajectory::Digest> digests) override {
    return inner_.find(digests);
  }
  base::Task<base::Result<std::vector<TurnPtr>>> newest(const trajectory::Digest& root) override {
    return inner_.newest(root);
  }
  base::Task<base::Result<std::vector<TurnPtr>>> by_ids(
      std::span<const std::uint64_t> ids) override {
    return inner_.by_ids(ids);
  }
  base::Task<base::Status> takes_turns(std::string session_id, SessionUse use) override {
    return inner_.takes_turns(std::move(session_id), use);
  }
  base::Task<base::Status> probe() override { return inner_.probe(); }
  [[nodiscard]] std::string dump() const override { return inner_.dump(); }

 protected:
  Store& inner_;
};

}  // namespace verbatim::store::testing
