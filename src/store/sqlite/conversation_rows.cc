#include "store/sqlite/conversation_rows.h"

#include <algorithm>

#include "store/sqlite/session_row.h"

namespace verbatim::store::sqlite {

using base::Result;
using base::Status;

namespace {

#define VERBATIM_CONVERSATION                                                            \
  "conversation.metadata, conversation.version, items, conversation.bytes, last, turn, " \
  "answered, instructed, carried "
#define VERBATIM_CONVERSATION_OF                     \
  "SELECT " VERBATIM_CONVERSATION                    \
  ", session.id, session.owner, session.created_ms " \
  "FROM conversation JOIN session ON session.number = conversation.session "
#define VERBATIM_ITEM "SELECT conversation_item.seq, conversation_item.id, body "
#define VERBATIM_ITEMS_BY_NAME                                                         \
  VERBATIM_ITEM                                                                        \
  "FROM conversation_item JOIN session ON session.number = conversation_item.session " \
  "WHERE session.id = ?1 "

Conversation conversation_of(const Statement& row) {
  Conversation conversation;
  conversation.metadata = row.bytes(0);
  conversation.version = unstored(row.integer(1));
  conversation.items = unstored(row.integer(2));
  conversation.bytes = unstored(row.integer(3));
  conversation.last = unstored(row.integer(4));
  conversation.turn = unstored(row.integer(5));
  conversation.answered = unstored(row.integer(6));
  conversation.instructed = row.integer(7) != 0;
  conversation.carried = row.bytes(8);
  return conversation;
}

Status write(Statement& statement, std::uint64_t session, const Conversation& conversation) {
  statement.bind_text(1, conversation.metadata);
  statement.bind(2, stored(conversation.version));
  statement.bind(3, stored(conversation.items));
  statement.bind(4, stored(conversation.bytes));
  statement.bind(5, stored(conversation.last));
  statement.bind(6, stored(conversation.turn));
  statement.bind(7, stored(conversation.answered));
  statement.bind(8, conversation.instructed ? 1 : 0);
  statement.bind_text(9, conversation.carried);
  statement.bind(10, stored(session));
  return statement.run();
}

Result<std::optional<Conversation>> named_conversation(Use& query) {
  const auto there = query->step();
  if (!there) return there.error();
  if (!*there) return std::optional<Conversation>();
  Conversation conversation = conversation_of(*query);
  conversation.id = query->bytes(9);
  conversation.owner = query->bytes(10);
  conversation.created_ms = query->integer(11);
  return std::optional(std::move(conversation));
}

ConversationItemPtr item_of(const Statement& row) {
  auto item = std::make_shared<ConversationItem>();
  item->seq = unstored(row.integer(0));
  item->id = row.bytes(1);
  item->body = row.bytes(2);
  return item;
}

Status each(Use& rows, const ConversationReader::Visit& visit) {
  for (;;) {
    const auto there = rows->step();
    if (!there) return there.error();
    if (!*there) return {};
    if (auto status = visit(item_of(*rows)); !status.ok()) return status;
  }
}

}  // namespace

std::uint64_t disk_bytes(const std::string& id, std::uint64_t body) {
  return body + 2 * id.size() + kRowBytes;
}

Status ConversationRows::prepare(Connection& connection) {
  return connection.prepare({
      {&insert_,
       "INSERT INTO conversation(metadata, version, items, bytes, last, turn, answered, "
       "instructed, carried, session) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&find_, "SELECT " VERBATIM_CONVERSATION "FROM conversation WHERE session = ?"},
      {&update_,
       "UPDATE conversation SET metadata = ?, version = ?, items = ?, bytes = ?, last = ?, "
       "turn = ?, answered = ?, instructed = ?, carried = ? WHERE session = ?"},
      {&erase_, "DELETE FROM conversation WHERE session = ?"},
      {&insert_item_, "INSERT INTO conversation_item(session, seq, id, body) VALUES(?, ?, ?, ?)"},
      {&find_item_, "SELECT seq, length(body) FROM conversation_item WHERE session = ? AND id = ?"},
      {&erase_item_, "DELETE FROM conversation_item WHERE session = ? AND seq = ?"},
      {&erase_items_, "DELETE FROM conversation_item WHERE session = ?"},
  });
}

Status ConversationRows::insert(std::uint64_t session, const Conversation& conversation) {
  return write(insert_, session, conversation);
}

Status ConversationRows::update(std::uint64_t session, const Conversation& conversation) {
  return write(update_, session, conversation);
}

Status ConversationRows::find(std::uint64_t session, std::optional<Conversation>& found) {
  found.reset();
  Use query(find_);
  query->bind(1, stored(session));
  const auto there = query->step();
  if (!there) return there.error();
  if (*there) found = conversation_of(*query);
  return {};
}

Status ConversationRows::erase_of(std::uint64_t session) {
  for (auto* erase : {&erase_items_, &erase_}) {
    erase->bind(1, stored(session));
    if (auto status = erase->run(); !status.ok()) return status;
  }
  return {};
}

Status ConversationRows::insert(std::uint64_t session, const ConversationItem& item) {
  insert_item_.bind(1, stored(session));
  insert_item_.bind(2, stored(item.seq));
  insert_item_.bind_text(3, item.id);
  insert_item_.bind_bytes(4, item.body);
  return insert_item_.run();
}

Status ConversationRows::erase(std::uint64_t session, std::uint64_t seq) {
  erase_item_.bind(1, stored(session));
  erase_item_.bind(2, stored(seq));
  return erase_item_.run();
}

Status ConversationRows::find_item(std::uint64_t session, const std::string& id,
                                   std::optional<Place>& found) {
  found.reset();
  Use query(find_item_);
  query->bind(1, stored(session));
  query->bind_text(2, id);
  const auto there = query->step();
  if (!there) return there.error();
  if (*there) found = Place{unstored(query->integer(0)), unstored(query->integer(1))};
  return {};
}

Status ConversationReader::prepare(Connection& connection) {
  return connection.prepare({
      {&by_id_, VERBATIM_CONVERSATION_OF "WHERE session.id = ?"},
      {&of_session_, VERBATIM_CONVERSATION_OF "WHERE session.number = ?"},
      {&ascending_, VERBATIM_ITEMS_BY_NAME "AND seq > ?2 ORDER BY conversation_item.seq LIMIT ?3"},
      {&descending_,
       VERBATIM_ITEMS_BY_NAME "AND seq < ?2 ORDER BY conversation_item.seq DESC LIMIT ?3"},
      {&item_, VERBATIM_ITEMS_BY_NAME "AND conversation_item.id = ?2"},
      {&all_, VERBATIM_ITEM "FROM conversation_item WHERE session = ? ORDER BY seq"},
  });
}

Result<std::optional<Conversation>> ConversationReader::read(const std::string& id) {
  Use query(by_id_);
  query->bind_text(1, id);
  return named_conversation(query);
}

Result<std::optional<Conversation>> ConversationReader::of_session(std::uint64_t session) {
  Use query(of_session_);
  query->bind(1, stored(session));
  return named_conversation(query);
}

Result<ConversationItems> ConversationReader::items(const ItemQuery& query) {
  if (!query.ids.empty()) return items_with(query);
  Use rows(query.descending ? descending_ : ascending_);
  const bool from_last = query.descending && query.behind == 0;
  rows->bind_text(1, query.conversation);
  rows->bind(2, from_last ? INT64_MAX : stored(query.behind));
  rows->bind(3, static_cast<std::int64_t>(query.limit));
  ConversationItems found;
  auto status = each(rows, [&found](const auto& item) {
    found.push_back(item);
    return Status();
  });
  if (!status.ok()) return std::move(status).error();
  return found;
}

Result<ConversationItems> ConversationReader::items_with(const ItemQuery& query) {
  ConversationItems found;
  for (const auto& id : query.ids) {
    Use rows(item_);
    rows->bind_text(1, query.conversation);
    rows->bind_text(2, id);
    auto status = each(rows, [&found](const auto& item) {
      found.push_back(item);
      return Status();
    });
    if (!status.ok()) return std::move(status).error();
  }
  const auto before = [](const auto& a, const auto& b) { return a->seq < b->seq; };
  const auto same = [](const auto& a, const auto& b) { return a->seq == b->seq; };
  std::sort(found.begin(), found.end(), before);
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

Status ConversationReader::each_item(std::uint64_t session, const Visit& visit) {
  Use rows(all_);
  rows->bind(1, stored(session));
  return each(rows, visit);
}

}  // namespace verbatim::store::sqlite
