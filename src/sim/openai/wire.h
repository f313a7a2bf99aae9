#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "message/event.h"
#include "message/usage.h"
#include "sim/openai/request.h"
#include "sim/script.h"

namespace verbatim::sim::openai {

// The body of a refusal.
std::string error_body(protocol::Wire wire, int status, std::string_view message);

// How a face differs from the others over the public protocols.
struct Dialect {
  std::string reasoning = "reasoning_content";  // what chat calls it
  bool ends_with_done = false;                  // responses and messages: [DONE] behind the last
  // responses: the last event of a stream is response.completed, also where the answer is
  // incomplete
  bool always_completes = false;
  bool reasons_if_asked = false;  // responses: reasoning is told where a summary is asked for
  std::string (*refusal)(protocol::Wire wire, int status, std::string_view message) = error_body;
};

struct Heading {
  std::string id;  // without its prefix
  std::string model;
  std::int64_t created = 0;
  std::uint64_t prompt_tokens = 0;
  bool include_usage = false;
  std::function<std::string()> draw;  // ids of items
};

// How an answer ended: "stop", "length", "abort"; anything else is printed as it is.
struct Ending {
  std::string type;
  bool calls = false;
  message::Usage usage;
};

// One answer in one protocol, its events in order. Strings are frames of a stream.
class WireWriter {
 public:
  virtual ~WireWriter() = default;
  virtual std::string events(std::span<const message::Event> events) = 0;
  // Behind the last event: what says how it ended, and what stands at the very end.
  virtual std::string ending(const Ending& ending) = 0;
  virtual std::string last(const Ending& ending) = 0;
  virtual std::string failure(std::string_view message) = 0;
  // What stands at the very end of a stream that failed.
  virtual std::string after_failure() = 0;
  virtual std::string whole(std::span<const message::Event> events, const Ending& ending) = 0;
};

std::unique_ptr<WireWriter> make_writer(protocol::Wire wire, Heading heading, Dialect dialect);

}  // namespace verbatim::sim::openai
