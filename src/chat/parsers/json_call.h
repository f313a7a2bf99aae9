#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/stream_scanner.h"
#include "message/event.h"

namespace verbatim::chat::parsers {

// Reads one call that a model writes as a JSON object {"name": ..., "arguments": {...}}, while it
// grows. The two keys may come in either order; other keys are allowed and ignored. Arguments may
// be absent, null, an object, or a string that holds one ("parameters" is taken for "arguments":
// models that were trained on both confuse them). Anything else is no call.
//
// When may arguments be given out? What is sent can't be taken back, and an object may turn out
// broken at any later byte. So a call is kept back until it is whole, or until kHoldBytes of its
// arguments stand: short calls are all or nothing, long ones stream. The last brace of the
// arguments waits for the close of the call, so that a call that is cut or breaks late never looks
// complete.
class JsonCall {
 public:
  static constexpr std::size_t kHoldBytes = 128;

  // Takes bytes up to the first that can't belong to a call; returns how many. After fewer than
  // all, the call is broken and may be fed no more.
  std::size_t feed(std::string_view text);

  [[nodiscard]] bool broken() const { return broken_; }
  // The object is closed and names a function.
  [[nodiscard]] bool whole() const { return !broken_ && scanner_.done(); }
  [[nodiscard]] bool in_string() const { return scanner_.in_string(); }
  // All bytes taken.
  [[nodiscard]] const std::string& raw() const { return raw_; }

  // Gives out what may be given out now, as call number `index`. Nothing before the call streams.
  void emit(std::uint32_t index, message::Events& out);
  // True when something was or would be given out by emit().
  [[nodiscard]] bool streams() const { return streams_; }
  // The call is closed: gives out the rest. Only when whole().
  void close(std::uint32_t index, message::Events& out);

 private:
  enum class Key : std::uint8_t { kOther, kName, kArguments };
  enum class Form : std::uint8_t { kAbsent, kNull, kObject, kString };

  void take(char c);
  void end_key();
  void begin_value(char c);
  void end_value();
  void end_object();
  void decide_streaming();
  void start(std::uint32_t index, message::Events& out);
  [[nodiscard]] std::string_view slice(std::size_t begin, std::size_t end) const {
    return std::string_view(raw_).substr(begin, end - begin);
  }

  json::StreamScanner scanner_;
  std::string raw_;
  bool broken_ = false;
  bool streams_ = false;
  bool started_ = false;
  Key key_ = Key::kOther;  // of the current member of the object
  std::size_t key_begin_ = 0;
  std::size_t value_begin_ = 0;
  std::string name_;
  bool name_seen_ = false;
  Form form_ = Form::kAbsent;
  bool arguments_seen_ = false;
  std::size_t arguments_begin_ = 0;
  std::size_t arguments_end_ = 0;  // behind the last byte; 0 while they grow
  std::size_t sent_ = 0;           // offset in raw_ behind the last byte given out
  std::string unescaped_;          // arguments that came as a string
};

}  // namespace verbatim::chat::parsers
