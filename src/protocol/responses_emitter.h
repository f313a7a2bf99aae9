#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/writer.h"
#include "message/event.h"
#include "message/usage.h"
#include "protocol/named_event.h"
#include "protocol/responses_output.h"
#include "protocol/text_ends.h"

namespace verbatim::protocol {

// Writes the events of one turn as a response: the object, or the events of a stream, in the order
// clients rely on: created, in_progress, then for each item added, its parts and deltas, done, and
// the last event with the whole object. Items keep their ids from added to the end.
// Life: one per turn; after end() or fail() it is spent. Not thread-safe.
// Format: OpenAI API reference, "Streaming events" of Responses.
class ResponsesEmitter {
 public:
  // What is behind the prefix of an item's id: "msg_" + draw().
  using Draw = std::function<std::string()>;
  ResponsesEmitter(ResponseHead head, Draw draw, TextEnds text_ends = TextEnds::kBeforeCalls);

  void open(NamedEvents& out);
  // ToolCallStart::native_id must be the id that the client is to see. An item that ItemStart names
  // has that id.
  void events(std::span<const message::Event> events, NamedEvents& out);
  // Ends the items. `status` is "completed", or "incomplete" with the reason max_output_tokens.
  void close(std::string_view status, NamedEvents& out);
  // Of an answer that is not streamed, behind close(): texts that end last stand last.
  void put_texts_last();
  // The object, of all that was said.
  [[nodiscard]] std::string whole(std::string_view status, const message::Usage& usage,
                                  std::int64_t completed = 0) const;
  // The last event, with what whole() gave.
  void end(std::string_view status, std::string_view whole, NamedEvents& out);
  // Ends the items as incomplete; then an event of the error, in front of fail().
  void report(const base::Error& error, NamedEvents& out);
  // Ends the items as incomplete. `usage` may be null: nobody counted.
  void fail(std::string_view code, std::string_view message, const message::Usage* usage,
            NamedEvents& out);

 private:
  struct Adder;

  OutputItem& at_item(ItemKind kind, NamedEvents& out);
  OutputItem& add(OutputItem item, NamedEvents& out);
  void announce(const OutputItem& item, NamedEvents& out);
  [[nodiscard]] bool stays_open(const OutputItem& item) const;
  void close_item(OutputItem& item, std::string_view status, NamedEvents& out);
  void close_all(std::string_view status, NamedEvents& out);
  void close_call(OutputItem& item, NamedEvents& out);
  void delta(const OutputItem& item, const char* type, std::string_view text, NamedEvents& out);
  void send_done(const OutputItem& item, NamedEvents& out);
  // {"type", "sequence_number", members of the place of `item`
  json::Writer begin(const char* type, const OutputItem* item);
  static void send(const char* type, json::Writer& w, NamedEvents& out);
  void send_response(const char* type, std::string_view whole, NamedEvents& out);
  [[nodiscard]] std::string object(const ResponseState& state) const;
  [[nodiscard]] std::size_t index_of(const OutputItem& item) const;

  ResponseHead head_;
  Draw draw_;
  std::vector<OutputItem> items_;
  TextEnds text_ends_;
  std::string named_;  // the id of the next item; empty: one is drawn
  std::uint64_t sequence_ = 0;
  bool opened_ = false;
  bool closed_ = false;
};

}  // namespace verbatim::protocol
