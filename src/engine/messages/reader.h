#pragma once

#include <memory>

#include "engine/answer_reader.h"
#include "protocol/answer_reader.h"

namespace verbatim::engine::messages {

// The answers of one protocol as an engine's: errors that the server reports are found, and those
// of reading say that the answer can't be trusted.
class Reader final : public AnswerReader {
 public:
  explicit Reader(protocol::Wire wire) : reader_(protocol::make_answer_reader(wire)) {}

  base::Result<TokenChunk> feed(std::string_view data) override;
  base::Result<TokenEnd> finish() override;
  base::Result<TokenEnd> cut() override;
  [[nodiscard]] bool ended() const override { return reader_->ended(); }
  [[nodiscard]] bool engine_is_done() const override { return failed_ || reader_->finished(); }

 private:
  std::unique_ptr<protocol::AnswerReader> reader_;
  bool failed_ = false;  // the server reported an error
};

}  // namespace verbatim::engine::messages
