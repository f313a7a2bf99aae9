#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/answer.h"
#include "sim/openai/request.h"
#include "sim/openai/wire.h"

namespace verbatim::sim::openai {

// An answer by messages. The ids are parsed as a server would that knows the model (<think>, Hermes
// calls). Parts are asked for in order.
class TalkAnswer final : public Answer {
 public:
  TalkAnswer(Spelling spelling, const Request& request, const tokenizer::Tokenizer& tokenizer,
             const Heading& heading, const Dialect& dialect);

  bool apply(Fault fault, std::uint64_t at) override;
  [[nodiscard]] HttpReply whole(const Part& part) const override;
  [[nodiscard]] std::string events(const Part& part) const override;
  [[nodiscard]] std::string aborted_events(const Part& part) const override;
  [[nodiscard]] std::string last_events() const override;
  [[nodiscard]] std::string_view stream_type() const override { return dialect_.stream_type; }
  [[nodiscard]] HttpReply refusal(int status, std::string_view message) const override;
  [[nodiscard]] HttpReply refusal_in_200(std::string_view message) const override;
  [[nodiscard]] std::string error_event(int status, std::string_view message) const override;

 private:
  [[nodiscard]] message::Events between(std::size_t from, std::size_t to) const;
  [[nodiscard]] Ending ending(const Finish& finish, std::size_t to) const;
  [[nodiscard]] std::string numbered(std::string text) const;

  const protocol::Wire wire_;
  const Dialect dialect_;
  std::vector<message::Events> by_id_;  // what each id says
  bool calls_ = false;
  std::size_t reasoning_ = 0;  // ids up to the last of the reasoning
  std::unique_ptr<WireWriter> writer_;
  mutable Ending ending_;         // of the last part that was printed
  mutable std::size_t sent_ = 0;  // ids
  mutable bool failed_ = false;
};

}  // namespace verbatim::sim::openai
