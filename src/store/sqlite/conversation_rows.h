#pragma once

#include <functional>
#include <optional>
#include <string>

#include "store/sqlite/connection.h"
#include "store/store.h"

namespace verbatim::store::sqlite {

// Bytes on disk of an item, about.
std::uint64_t disk_bytes(const std::string& id, std::uint64_t body);

// Writes conversations and their items beside the rows of their sessions. Within a transaction that
// the caller opens.
class ConversationRows {
 public:
  // `connection` outlives this.
  base::Status prepare(Connection& connection);

  // Of a session that has none.
  base::Status insert(std::uint64_t session, const Conversation& conversation);
  // Without what the session's row says.
  base::Status find(std::uint64_t session, std::optional<Conversation>& found);
  base::Status update(std::uint64_t session, const Conversation& conversation);
  base::Status erase_of(std::uint64_t session);

  base::Status insert(std::uint64_t session, const ConversationItem& item);
  base::Status erase(std::uint64_t session, std::uint64_t seq);
  struct Place {
    std::uint64_t seq = 0;
    std::uint64_t bytes = 0;  // of its body
  };
  base::Status find_item(std::uint64_t session, const std::string& id, std::optional<Place>& found);

 private:
  Statement insert_, find_, update_, erase_, insert_item_, find_item_, erase_item_, erase_items_;
};

// Reads them.
class ConversationReader {
 public:
  base::Status prepare(Connection& connection);
  base::Result<std::optional<Conversation>> read(const std::string& id);
  base::Result<ConversationItems> items(const ItemQuery& query);
  // That of a session, and its items from the first to the last.
  base::Result<std::optional<Conversation>> of_session(std::uint64_t session);
  using Visit = std::function<base::Status(const ConversationItemPtr& item)>;
  base::Status each_item(std::uint64_t session, const Visit& visit);

 private:
  base::Result<ConversationItems> items_with(const ItemQuery& query);
  Statement by_id_, of_session_, ascending_, descending_, item_, all_;
};

}  // namespace verbatim::store::sqlite
