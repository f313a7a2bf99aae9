#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/task.h"
#include "store/store.h"

namespace verbatim::gateway {

// What a request in a conversation goes on from.
struct ConversationHistory {
  store::Conversation state;
  // Behind which it goes on; null: `items` are all there are.
  trajectory::TurnPtr turn;
  std::vector<std::string> items;  // raw JSON, those behind the turn
};

// Reads a conversation of the owner's for a request that brings `input`, raw items. Errors:
// kNotFound; kInvalidRequest, where it has no room for them, or has one of their ids already; what
// the store says.
base::Task<base::Result<ConversationHistory>> read_history(store::Store& store, std::string id,
                                                           std::string owner,
                                                           const std::vector<std::string>& input);

// The items of a response object's output, with the ids by which they are kept.
std::vector<store::ConversationChange::NewItem> output_items(const std::string& response);

}  // namespace verbatim::gateway
