#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "gateway/model.h"
#include "store/conversation.h"

namespace verbatim::gateway {

// Items that one request may add to a conversation, beside those of a turn.
inline constexpr std::size_t kMaxItemsAtOnce = 20;
// What a conversation may hold: so much is read again, at one time, where its items were changed.
inline constexpr std::uint64_t kMaxConversationItems = 50'000;
inline constexpr std::uint64_t kMaxConversationBytes = std::uint64_t{64} << 20;

// What a request to /v1/conversations says.
struct ConversationBody {
  std::optional<std::string> metadata;  // JSON object
  std::vector<store::ConversationChange::NewItem> items;
};

// Which request: it knows its fields, and demands some.
enum class ConversationCall { kCreate, kUpdate, kAddItems };

// Reads and checks a body. Items are those of `input` in POST /v1/responses, by the same rules.
// Errors name the field: kInvalidRequest, kUnsupported.
base::Result<ConversationBody> read_conversation_body(const std::string& body,
                                                      ConversationCall call, const Model& model,
                                                      base::Random& random);

// Ids that a client gives its items can stand in a path, and come once. `items` are raw JSON;
// errors name them by `field`. The ids, in order.
base::Result<std::vector<std::string>> read_item_ids(const std::vector<std::string>& items,
                                                     const std::string& field);

// Is there room for what would be added? kInvalidRequest with code conversation_full.
base::Status check_room(const store::Conversation& conversation, std::uint64_t items,
                        std::uint64_t bytes);

}  // namespace verbatim::gateway
