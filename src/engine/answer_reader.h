#pragma once

#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace verbatim::engine {

// Reads one answer of an engine and believes nothing. Fed with one object at a time: the data of
// each event of a stream, or the whole body of an answer that is not streamed. Gives out the ids
// that are new, each with its logprob, or the events. Errors are kEngine; they name the field, what
// was found and what was expected (code "malformed_answer"), or what the engine reported (code
// "engine_error", "engine_abort"). After an error, finish() or cut() a reader is not used again.
class AnswerReader {
 public:
  virtual ~AnswerReader() = default;
  // `data` is one JSON object.
  virtual base::Result<TokenChunk> feed(std::string_view data) = 0;
  // Called behind the last object: the proved end.
  virtual base::Result<TokenEnd> finish() = 0;
  // The answer is given up at what was fed: the end as far as it is proved (finish stop, no word of
  // the engine). Fails where nothing has proved yet that the prompt arrived as sent.
  virtual base::Result<TokenEnd> cut() = 0;
  // The answer marks its end by itself, and the last object was it: [DONE] need not follow.
  [[nodiscard]] virtual bool ended() const { return false; }
  // The engine has nothing more to do: it gave a finish reason, or reported an error.
  [[nodiscard]] virtual bool engine_is_done() const = 0;
};

}  // namespace verbatim::engine
