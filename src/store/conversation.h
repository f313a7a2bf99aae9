#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace verbatim::store {

// What stands in a conversation: an item of the Responses API, JSON text.
struct ConversationItem {
  std::uint64_t seq = 0;  // in order of adding, from 1; none gets it again
  std::string id;         // unique in its conversation; as in its body, but for answers that an
                          // engine gives an id for the second time
  std::string body;
};
using ConversationItemPtr = std::shared_ptr<const ConversationItem>;
using ConversationItems = std::vector<ConversationItemPtr>;

// A conversation (POST /v1/conversations) without its items: what is kept beside the created
// session of the same id, which holds its turns. It goes with that session. Texts are the
// gateway's.
struct Conversation {
  std::string id;
  std::string owner;
  std::int64_t created_ms = 0;
  std::string metadata;       // JSON object, the client's own
  std::uint64_t version = 1;  // rises with every change of its items, never falls
  std::uint64_t items = 0;    // how many there are
  std::uint64_t bytes = 0;    // of their bodies
  std::uint64_t last = 0;     // seq of the item that was added last, also where it is gone
  // The turn whose path and answer are the items up to `answered`, a seq. 0: none is, since items
  // were added in front of the first turn, or deleted from what one had answered.
  std::uint64_t turn = 0;
  std::uint64_t answered = 0;
  bool instructed = false;  // the first message of its path is its request's `instructions`
  std::string carried;      // what of its request holds for the next ones, JSON
};

// A change of a conversation: all of it, or nothing.
struct ConversationChange {
  std::string id;
  std::int64_t now_ms = 0;
  std::optional<std::uint64_t> version;  // which it must have; absent: any
  std::optional<std::string> metadata;   // in place of what it has
  struct NewItem {
    std::string id;
    std::string body;
  };
  std::vector<NewItem> added;  // at its end
  std::string removed;         // id of an item; empty: none
  // All items, with those added, are what a turn answered: the one that is committed with the
  // change.
  struct Answer {
    std::uint64_t turn = 0;
    bool instructed = false;
    std::string carried;
  };
  std::optional<Answer> answer;
};

// Which items of a conversation to read.
struct ItemQuery {
  std::string conversation;
  std::vector<std::string> ids;  // these; empty: by the rest
  std::uint64_t behind = 0;      // seq; 0: from the first, or the last, on
  std::size_t limit = 0;
  bool descending = false;
};

}  // namespace verbatim::store
