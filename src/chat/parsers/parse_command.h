#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace verbatim::chat::parsers {

// What `verbatim parse` is given: the contents of its files (tests/cases/run_parse.py describes
// them).
struct ParseRequest {
  std::string grammar;
  std::string tools = "[]";  // JSON: function tools offered
  std::string output;        // the model's output, tags spelled out
  std::optional<std::string>
      segments;                 // JSON: [{"special": tag} | {"text": ...}]; which tags are tokens
  std::string prompt_tail;      // last bytes of the rendered prompt
  std::string finish = "stop";  // what the engine said: stop or length
  std::optional<std::string> chunks;  // JSON: byte lengths; the output is fed in these pieces
  bool tags_are_text = false;         // a vocabulary without tokens for the tags
};

// Parses the output and returns one line of JSON: reasoning, content, tool_calls, finish_reason and
// the deltas that a streaming client would get. Errors: kInvalidRequest naming the option.
base::Result<std::string> parse_command(const ParseRequest& request);

}  // namespace verbatim::chat::parsers
