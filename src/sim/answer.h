#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sim/script.h"
#include "sim/spelling.h"

namespace verbatim::sim {

// From which id on a version of the weights was at work.
struct WeightSpan {
  std::string version;
  std::size_t start = 0;
};

// A part of an answer: ids [from, to).
struct Part {
  std::size_t from = 0;
  std::size_t to = 0;
  const Finish* finish = nullptr;       // null but for the last part
  std::span<const WeightSpan> weights;  // so far; never empty
};

// One answer, as a face prints it. Pure. When parts leave, and what goes wrong on the way, is
// decided by Generation.
class Answer {
 public:
  explicit Answer(Spelling spelling) : spelling_(std::move(spelling)) {}
  Answer(const Answer&) = delete;
  virtual ~Answer() = default;

  // Spoils the answer; false where it has nothing to spoil.
  virtual bool apply(Fault fault, std::uint64_t at) { return spelling_.apply(fault, at); }
  [[nodiscard]] std::size_t size() const { return spelling_.size(); }
  [[nodiscard]] const Finish& finish() const { return spelling_.finish; }

  [[nodiscard]] virtual HttpReply whole(const Part& part) const = 0;
  // A whole answer that was given up at `part`.
  [[nodiscard]] virtual HttpReply whole_aborted(const Part& part) const { return whole(part); }
  // The events of a stream that bring a part ("data: ...\n\n").
  [[nodiscard]] virtual std::string events(const Part& part) const = 0;
  // How a stream that was given up says so; may be nothing.
  [[nodiscard]] virtual std::string aborted_events(const Part& part) const { return events(part); }
  // What stands between the last part and the end.
  [[nodiscard]] virtual std::string closing_events() const { return {}; }
  // The end of a stream, behind whatever stands in it.
  [[nodiscard]] virtual std::string last_events() const;
  [[nodiscard]] virtual std::string_view stream_type() const {
    return "text/event-stream; charset=utf-8";
  }

  // An error in place of the answer, and one within its stream.
  [[nodiscard]] virtual HttpReply refusal(int status, std::string_view message) const = 0;
  // The same behind a 200.
  [[nodiscard]] virtual HttpReply refusal_in_200(std::string_view message) const {
    HttpReply reply = refusal(500, message);
    reply.status = 200;
    return reply;
  }
  [[nodiscard]] virtual std::string error_event(int status, std::string_view message) const = 0;

 protected:
  Spelling spelling_;
};

// "data: <data>\n\n".
std::string sse(std::string_view data);

}  // namespace verbatim::sim
