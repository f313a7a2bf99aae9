#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "message/event.h"
#include "message/usage.h"
#include "protocol/text_ends.h"
#include "sim/openai/request.h"
#include "sim/script.h"

namespace verbatim::sim::openai {

// The body of a refusal.
std::string error_body(protocol::Wire wire, int status, std::string_view message);

// What stands in place of what the model did not say. `drawn` are hex digits, new each time.
std::string call_id(protocol::Wire wire, const std::string& drawn);
std::string signature(const std::string& id, bool stream);

// How a face differs from the others over the public protocols.
struct Dialect {
  std::string reasoning = "reasoning_content";  // what chat calls it
  std::size_t digits = 24;                      // of what is drawn for ids
  std::string message_id = "msg_";              // messages: what its id begins with
  std::string (*call_id)(protocol::Wire wire, const std::string& drawn) = openai::call_id;
  // messages: of the thinking of the answer with this id
  std::string (*signature)(const std::string& id, bool stream) = openai::signature;
  // responses: what of the request stands in each object; null: nothing
  std::vector<protocol::RawMember> (*echo)(const json::Value& request) = nullptr;
  bool says_completed_at = false;  // responses
  bool keeps_layout = false;       // blanks around reasoning and text are text
  bool whole_calls = false;        // calls come in one piece, when they are closed
  protocol::TextEnds text_ends = protocol::TextEnds::kBeforeCalls;  // responses and messages
  bool ends_with_done = false;  // responses and messages: [DONE] behind the last
  std::string_view stream_type = "text/event-stream; charset=utf-8";
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
  bool stream = false;
  std::vector<protocol::RawMember> echo;
  std::function<std::string()> draw;  // ids of items
};

// How an answer ended: "stop", "length", "abort"; anything else is printed as it is.
struct Ending {
  std::string type;
  bool calls = false;
  message::Usage usage;
  std::uint64_t reasoning_tokens = 0;
};

// One answer in one protocol, its events in order. Strings are frames of a stream.
class WireWriter {
 public:
  virtual ~WireWriter() = default;
  virtual std::string events(std::span<const message::Event> events) = 0;
  // Behind the last event: what says how it ended, and what stands at the very end.
  virtual std::string ending(const Ending& ending) = 0;
  virtual std::string last(const Ending& ending) = 0;
  virtual std::string failure(std::string_view message, const message::Usage& usage) = 0;
  // What stands at the very end of a stream that failed.
  virtual std::string after_failure() = 0;
  virtual std::string whole(std::span<const message::Event> events, const Ending& ending) = 0;
};

std::unique_ptr<WireWriter> make_writer(protocol::Wire wire, Heading heading, Dialect dialect);

}  // namespace verbatim::sim::openai
