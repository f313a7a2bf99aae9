#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "store/sqlite/conversation_rows.h"

namespace verbatim::store::sqlite {

// The conversation of a session that is imported: put in, or compared where the session is known.
// Errors (kInvalidRequest) say what does not fit; kConflict: it is not the same in the store.
// Life: one per import, begun anew for each session.
class ImportConversation {
 public:
  base::Status prepare(Connection& connection);

  struct Session {
    std::uint64_t number = 0;  // in the store
    std::string id;
    bool known = false;
  };
  // `turns`: the ids of those that were put in; a known session's were compared.
  base::Status begin(const Session& session, const Conversation& conversation,
                     const std::unordered_set<std::uint64_t>& turns);
  base::Status add(const ConversationItem& item);
  // Behind the last item: what it counts is there. What was put in counts for `disk`. Does nothing
  // where there is no conversation.
  base::Status finish(std::uint64_t& disk);

 private:
  base::Error other() const;

  ConversationRows rows_;
  ConversationReader reader_;
  Session session_;
  std::optional<Conversation> conversation_;  // as the export says
  std::uint64_t items_ = 0, bytes_ = 0, last_ = 0, disk_ = 0;
};

}  // namespace verbatim::store::sqlite
