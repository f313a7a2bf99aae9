#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "message/message.h"
#include "simulate/ledger.h"

namespace verbatim::simulate {

// A message of an agent's history.
struct Item {
  message::Message message;
  std::string turn;      // an answer: the name of the recorded turn it is; empty: none
  bool touched = false;  // changed since, so that it is no continuation of what is recorded
};

// An agent's own view of a conversation, and how it spells requests.
struct Conversation {
  std::string session;    // empty: stateless chat
  std::string door;       // stateless chat: the session that a header names; empty: none
  bool one_line = false;  // the session takes no second answer
  unsigned tools = 0;     // edition of the list of tools; 0: none
  unsigned editions = 1;  // so far
  std::vector<Item> items;
};

// Sampling and so on, drawn for each request.
struct RequestShape {
  unsigned choices = 1;
  bool stream = false;
  bool usage = false;
  bool logprobs = false;
  bool no_tools = false;  // tool_choice none
  bool no_thinking = false;
  bool stops = false;            // a stop string
  std::uint64_t max_tokens = 0;  // 0: none
};
RequestShape some_shape(base::Random& random);
// Of it, what a conversation by messages can ask for.
RequestShape by_messages(RequestShape shape);

// Opens a conversation: perhaps a system message, and a user message no other conversation has.
void open(Conversation& conversation, base::Random& random, const std::string& unique);
// What an agent adds to an answer: tool results for its calls, else the user's next message.
void go_on(Conversation& conversation, base::Random& random);
// Changes something earlier: the request then continues what stands above it.
void edit(Conversation& conversation, base::Random& random);
// Takes over an answer to a request that carried all items: that of the turn of this name.
void adopt(Conversation& conversation, const Asked& asked, const std::string& turn,
           message::Message answer);

// The body of a request, in one of its many spellings; fills in what of `asked` the history tells.
std::string spell(const Conversation& conversation, const RequestShape& shape, base::Random& random,
                  Asked& asked);

}  // namespace verbatim::simulate
