#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace verbatim::net {

// Whether a Content-Type names an event stream: in any case, with any parameters.
bool is_event_stream(std::string_view content_type);

// One dispatched event. Views live during the callback.
struct SseEvent {
  std::string_view event;  // "" where the stream names none
  std::string_view data;
  std::string_view id;                    // the last id seen, as the standard keeps it over events
  std::optional<std::uint64_t> retry_ms;  // set by a retry field of this very event
};

// Reads one event at a time from bytes that arrive in any chunking. Format: WHATWG HTML,
// "Server-sent events", 9.2.6, without reconnection. Feeds nothing it has not seen whole: an event
// without its empty line at the end of the stream is dropped, as the standard says (unfinished()
// tells). Bound: an event longer than `max_event` is an error, and so is everything after an error.
class SseReader {
 public:
  using Sink = std::function<base::Status(const SseEvent&)>;
  explicit SseReader(std::size_t max_event) : max_event_(max_event) {}

  // Calls `sink` for each complete event, in order. Returns its first error, or kTooLarge.
  base::Status feed(std::string_view bytes, const Sink& sink);
  // Bytes of an event that was not dispatched are held back.
  [[nodiscard]] bool unfinished() const { return !line_.empty() || has_data_; }

 private:
  base::Status take_line(std::string_view line, const Sink& sink);
  base::Status dispatch(const Sink& sink);
  void field(std::string_view name, std::string_view value);

  std::size_t max_event_;
  std::string line_;  // an unfinished line
  std::string data_;
  std::string event_;
  std::string id_;
  std::optional<std::uint64_t> retry_ms_;
  bool has_data_ = false;
  bool after_cr_ = false;  // a LF now belongs to the line end before
  bool at_start_ = true;   // a byte order mark may come
  bool failed_ = false;
};

// Whether an event may begin behind a text of whole lines that ends like this: nothing, or an empty
// line. The last four bytes tell.
bool ends_event(std::string_view tail);

// Appends "data: <data>\n\n" to `out`; data of several lines becomes several data fields.
void append_sse_data(std::string& out, std::string_view data);
// The same with "event: <event>\n" before it. `event` has no line end.
void append_sse_event(std::string& out, std::string_view event, std::string_view data);
// ": <text>\n\n": keeps a silent connection alive.
void append_sse_comment(std::string& out, std::string_view text);

}  // namespace verbatim::net
