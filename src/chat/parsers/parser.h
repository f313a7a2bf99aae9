#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "message/event.h"

namespace verbatim::chat::parsers {

// One tag of a grammar ("<tool_call>"), by its place in Grammar::markers.
using MarkerIndex = std::uint32_t;

// What is known about a turn before its first token.
struct TurnStart {
  bool reasoning_open = false;  // the rendered prompt ends inside an open reasoning block
  bool tools = true;            // calls are meant; without, their tags are text like any other
  // White space that is layout of the template, in front of and behind a text, is kept as text. As
  // some servers do: for those that play them, and read by hermes alone.
  bool keeps_layout = false;
};

// Why the output ends.
enum class Ending {
  kByItself,    // the model was done: what is open now is broken
  kLength,      // cut: what is open now would have gone on
  kStopString,  // cut by a string of the client, wherever it stood
};

// Reads the output of one turn, in pieces, into events. Pieces are markers (the model sampled the
// tag as one added token, or the vocabulary spells tags in ordinary tokens and the splitter found
// one) and text between them. Text may be cut anywhere between two characters: the joined events
// are the same for every cut.
//
// Life: one per turn, on the thread of its stream. Memory: at most what the turn holds.
class Parser {
 public:
  virtual ~Parser() = default;
  // Whole UTF-8 characters.
  virtual void text(std::string_view text, message::Events& out) = 0;
  virtual void marker(MarkerIndex marker, message::Events& out) = 0;
  // The turn is over; nothing may follow. Returns what the client is told.
  virtual message::FinishReason finish(Ending ending, message::Events& out) = 0;
};

// A way in which models write reasoning and calls. Static data: one row in grammars.cc each.
struct Grammar {
  std::string_view name;
  // Spelling of each tag that the parser acts on. Whether a tag is an added token or ordinary text
  // depends on the vocabulary, for each tag by itself (TokenMarkers).
  std::span<const std::string_view> markers;
  // Tags that open and close reasoning; empty where the grammar has none.
  std::string_view reasoning_open;
  std::string_view reasoning_close;
  // Tags that frame a turn in the prompt.
  std::string_view turn_open;
  std::string_view turn_end;
  std::unique_ptr<Parser> (*make)(const TurnStart& start);
};

// Null when there is no such grammar.
const Grammar* grammar_named(std::string_view name);
std::span<const Grammar> grammars();

// Does a prompt that ends with `tail` (text) end inside an open reasoning block? Only what stands
// behind the last turn opener counts: a caller may write the tag too.
bool reasoning_open(const Grammar& grammar, std::string_view tail);

}  // namespace verbatim::chat::parsers
