#include "engine/messages/reader.h"

#include <utility>

#include "engine/fields.h"
#include "engine/upstream.h"

namespace verbatim::engine::messages {
namespace {

using base::Result;

// In the words of all readers; what a server said itself stays as it is.
base::Error distrusted(base::Error error) {
  if (!error.code.empty()) return error;
  const std::string field = error.field.empty() ? "" : error.field + ": ";
  error.message = "the engine's answer can't be trusted: " + field + error.message;
  // It is no field of the request.
  error.field.clear();
  error.code = "malformed_answer";
  return error;
}

EngineFinish::Kind kind_of(message::FinishReason reason) {
  return reason == message::FinishReason::kLength ? EngineFinish::Kind::kLength
                                                  : EngineFinish::Kind::kStop;
}

}  // namespace

Result<TokenChunk> Reader::feed(std::string_view data) {
  const auto document = parse_answer(std::string(data), "");
  if (!document.ok()) return document.error();
  if (is_error_body(document->root())) {
    failed_ = true;
    return reported_error(document->root());
  }
  TokenChunk chunk;
  auto status = reader_->feed(document->root(), chunk.events);
  if (!status.ok()) return distrusted(std::move(status).error());
  return chunk;
}

Result<TokenEnd> Reader::finish() {
  auto said = reader_->finish();
  if (!said.ok()) return distrusted(std::move(said).error());
  TokenEnd end;
  end.finish.kind = kind_of(said->finish);
  end.finish.raw = std::move(said->word);
  end.prompt_is_proved = false;
  end.usage = said->usage;
  if (said->usage) {
    end.prompt_tokens = said->usage->prompt_tokens;
    end.completion_tokens = said->usage->completion_tokens;
    end.cached_tokens = said->usage->cached_tokens;
  }
  end.unknown = std::move(said->unknown);
  return end;
}

Result<TokenEnd> Reader::cut() {
  return base::error(base::ErrorKind::kUnsupported,
                     "an answer by messages can't be cut: its engine finds the stop strings");
}

}  // namespace verbatim::engine::messages
