#pragma once

#include <string_view>

#include "engine/answer_reader.h"
#include "engine/sglang/answer_reader.h"

namespace verbatim::engine::sglang {

// Reads the answer of POST /v1/chat/completions with input_ids (>= 0.5.13): one body. Its meta_info
// is proved as that of /generate, its message is the parsed one of the chunk. The prompt must be
// said again: releases that do not know input_ids render the messages without a word. Life and
// errors: see engine::AnswerReader. Pure.
class ChatReader final : public engine::AnswerReader {
 public:
  explicit ChatReader(Sent sent) : tokens_(std::move(sent)) {}

  base::Result<TokenChunk> feed(std::string_view data) override;
  base::Result<TokenEnd> finish() override { return tokens_.finish(); }
  base::Result<TokenEnd> cut() override { return tokens_.cut(); }
  [[nodiscard]] bool engine_is_done() const override {
    return reported_ || tokens_.engine_is_done();
  }

 private:
  sglang::AnswerReader tokens_;
  bool reported_ = false;  // the engine reported an error
};

}  // namespace verbatim::engine::sglang
