#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/writer.h"
#include "message/event.h"
#include "message/usage.h"
#include "protocol/named_event.h"
#include "protocol/responses_items.h"

namespace verbatim::protocol {

// What stands in every object of one response.
struct ResponseHead {
  std::string id;            // "resp_..."
  std::int64_t created = 0;  // Unix time, seconds
  std::string model;
};

// Writes the events of one turn as a response: the object, or the events of a stream, in the order
// clients rely on: created, in_progress, then for each item added, its parts and deltas, done, and
// the last event with the whole object. Items keep their ids from added to the end.
// Life: one per turn; after finish() or fail() it is spent. Not thread-safe.
// Format: OpenAI API reference, "Streaming events" of Responses.
class ResponsesEmitter {
 public:
  // What is behind the prefix of an item's id: "msg_" + draw().
  using Draw = std::function<std::string()>;
  ResponsesEmitter(ResponseHead head, Draw draw);

  void open(NamedEvents& out);
  // ToolCallStart::native_id must be the id that the client is to see.
  void events(std::span<const message::Event> events, NamedEvents& out);
  // Ends the items. `status` is "completed", or "incomplete" with the reason max_output_tokens.
  void finish(std::string_view status, const message::Usage& usage, NamedEvents& out);
  void fail(std::string_view code, std::string_view message, NamedEvents& out);
  // The object, of all that was said.
  [[nodiscard]] std::string whole(std::string_view status, const message::Usage& usage) const;

 private:
  struct Entry {
    ItemKind kind;
    std::string id;
    Item item;
    bool open = true;  // or cut
  };
  struct Adder;

  Entry& at_item(ItemKind kind, NamedEvents& out);
  Entry& add(Entry entry, NamedEvents& out);
  void close_last(std::string_view status, NamedEvents& out);
  void delta(const Entry& entry, std::string_view text, NamedEvents& out);
  // {"type", "sequence_number", members of the place of `entry`
  json::Writer begin(const char* type, const Entry* entry);
  static void send(const char* type, json::Writer& w, NamedEvents& out);
  void send_response(const char* type, std::string_view status, const message::Usage* usage,
                     NamedEvents& out);
  void write_response(json::Writer& w, std::string_view status, const message::Usage* usage) const;
  static void write_part(json::Writer& w, const Entry& entry, std::string_view text);
  static void write_item(json::Writer& w, const Entry& entry, std::string_view status);
  [[nodiscard]] std::size_t index_of(const Entry& entry) const;

  ResponseHead head_;
  Draw draw_;
  std::vector<Entry> items_;
  std::uint64_t sequence_ = 0;
  bool opened_ = false;
  std::string error_;  // of a failed response, JSON
};

}  // namespace verbatim::protocol
