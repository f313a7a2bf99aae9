#include "net/sse.h"

#include <charconv>
#include <utility>

#include "net/http_types.h"

namespace verbatim::net {
namespace {
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
}  // namespace

bool is_event_stream(std::string_view content_type) {
  const auto name = content_type.substr(0, content_type.find(';'));
  return equals_ignoring_case(name.substr(0, name.find_last_not_of(" \t") + 1),
                              "text/event-stream");
}

base::Status SseReader::feed(std::string_view bytes, const Sink& sink) {
  if (failed_) return base::error(base::ErrorKind::kInternal, "the event stream has failed before");
  while (!bytes.empty()) {
    // The end of a line was given at its CR; an LF behind it, perhaps in the next chunk, is part of
    // it.
    if (std::exchange(after_cr_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() + data_.size() > max_event_) {
      failed_ = true;
      return base::error(base::ErrorKind::kTooLarge, "an event of the stream is larger than " +
                                                         std::to_string(max_event_) + " bytes");
    }
    if (end == std::string_view::npos) {
      line_ += part;
      return {};
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    base::Status status;
    if (line_.empty()) {
      status = take_line(part, sink);
    } else {
      line_ += part;
      const std::string whole = std::exchange(line_, {});
      status = take_line(whole, sink);
    }
    if (!status.ok()) {
      failed_ = true;
      return status;
    }
  }
  return {};
}

base::Status SseReader::take_line(std::string_view line, const Sink& sink) {
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) return dispatch(sink);
  const std::size_t colon = line.find(':');
  if (colon == 0) return {};  // a comment
  std::string_view value =
      colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  field(line.substr(0, colon), value);
  return {};
}

void SseReader::field(std::string_view name, std::string_view value) {
  if (name == "data") {
    data_ += value;
    data_ += '\n';
    has_data_ = true;
  } else if (name == "event") {
    event_ = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) id_ = value;
  } else if (name == "retry") {
    std::uint64_t ms = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), ms);
    if (code == std::errc() && end == value.data() + value.size() && !value.empty()) retry_ms_ = ms;
  }
}

base::Status SseReader::dispatch(const Sink& sink) {
  // Events without data are not dispatched (WHATWG HTML 9.2.6).
  if (!has_data_) {
    event_.clear();
    retry_ms_.reset();
    return {};
  }
  data_.pop_back();
  const SseEvent event{event_, data_, id_, retry_ms_};
  auto status = sink(event);
  data_.clear();
  event_.clear();
  retry_ms_.reset();
  has_data_ = false;
  return status;
}

bool ends_event(std::string_view tail) {
  if (tail.empty()) return true;
  for (int line_ends = 0; line_ends < 2; ++line_ends) {
    if (!tail.ends_with('\n') && !tail.ends_with('\r')) return false;
    tail.remove_suffix(tail.ends_with("\r\n") ? 2 : 1);
  }
  return true;
}

void append_sse_data(std::string& out, std::string_view data) {
  for (;;) {
    const std::size_t end = data.find_first_of("\r\n");
    out += "data: ";
    out += data.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos) break;
    // A line break in the data would end the field: each line becomes a field of its own.
    const bool crlf = data[end] == '\r' && end + 1 < data.size() && data[end + 1] == '\n';
    data.remove_prefix(end + (crlf ? 2 : 1));
  }
  out += '\n';
}

void append_sse_event(std::string& out, std::string_view event, std::string_view data) {
  out += "event: ";
  out += event;
  out += '\n';
  append_sse_data(out, data);
}

void append_sse_comment(std::string& out, std::string_view text) {
  out += ": ";
  out += text;
  out += "\n\n";
}

}  // namespace verbatim::net
