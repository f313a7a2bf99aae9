#include "chat/parsers/json_call.h"

#include "json/string_codec.h"
#include "message/fold.h"

namespace verbatim::chat::parsers {
namespace {

using Mark = json::StreamScanner::Mark;

bool is_whole_object(std::string_view text) {
  json::StreamScanner scanner;
  bool object = false;
  for (const char c : text) {
    const Mark mark = scanner.feed(c);
    if (mark == Mark::kError) return false;
    if (mark == Mark::kBegin && scanner.depth() == 1 && c == '{') object = true;
  }
  return object && scanner.done();
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \n\r\t") == text.npos;
}

}  // namespace

std::size_t JsonCall::feed(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    take(text[i]);
    if (broken_) return i;
    raw_.push_back(text[i]);
    decide_streaming();
  }
  return text.size();
}

void JsonCall::take(char c) {
  const Mark mark = scanner_.feed(c);
  switch (mark) {
    case Mark::kNone:
      return;
    case Mark::kError:
      broken_ = true;
      return;
    case Mark::kBeginKey:
      if (scanner_.depth() == 1) key_begin_ = raw_.size() + 1;
      return;
    case Mark::kEndKey:
      if (scanner_.depth() == 1) end_key();
      return;
    case Mark::kBegin:
      begin_value(c);
      return;
    case Mark::kEnd:
      if (scanner_.depth() == 1) end_value();
      if (scanner_.depth() == 0) end_object();
      return;
  }
}

void JsonCall::end_key() {
  std::string key;
  json::append_unescaped(key, slice(key_begin_, raw_.size()));
  key_ = Key::kOther;
  if (key == "name") key_ = Key::kName;
  if (key == "arguments" || key == "parameters") key_ = Key::kArguments;
  // Written twice, it is not clear which is meant (and the first may have been given out).
  if (key_ == Key::kName && name_seen_) broken_ = true;
  if (key_ == Key::kArguments && arguments_seen_) broken_ = true;
}

void JsonCall::begin_value(char c) {
  const bool container = c == '{' || c == '[';
  const std::size_t depth = scanner_.depth() - (container ? 1 : 0);  // of what it stands in
  if (depth == 0 && c != '{') broken_ = true;
  if (depth != 1) return;
  value_begin_ = raw_.size();
  if (key_ == Key::kName) {
    name_seen_ = true;
    if (c != '"') broken_ = true;
  }
  if (key_ != Key::kArguments) return;
  arguments_seen_ = true;
  arguments_begin_ = raw_.size();
  sent_ = arguments_begin_;
  form_ = c == '{' ? Form::kObject : c == '"' ? Form::kString : Form::kNull;
  if (c != '{' && c != '"' && c != 'n') broken_ = true;
}

void JsonCall::end_value() {
  if (key_ == Key::kName) json::append_unescaped(name_, slice(value_begin_ + 1, raw_.size()));
  if (key_ == Key::kArguments) {
    arguments_end_ = raw_.size() + 1;
    if (form_ == Form::kString) {
      json::append_unescaped(unescaped_, slice(value_begin_ + 1, raw_.size()));
      if (is_blank(unescaped_)) form_ = Form::kNull;
      if (form_ == Form::kString && !is_whole_object(unescaped_)) broken_ = true;
    }
  }
  key_ = Key::kOther;
}

void JsonCall::end_object() {
  if (name_.empty()) broken_ = true;
}

void JsonCall::decide_streaming() {
  if (streams_ || name_.empty() || form_ != Form::kObject) return;
  const std::size_t end = arguments_end_ == 0 ? raw_.size() : arguments_end_;
  streams_ = end - arguments_begin_ >= kHoldBytes;
}

void JsonCall::start(std::uint32_t index, message::Events& out) {
  if (started_) return;
  started_ = true;
  out.emplace_back(message::ToolCallStart{index, {}, name_});
}

void JsonCall::emit(std::uint32_t index, message::Events& out) {
  if (!streams_) return;
  start(index, out);
  // All but the last brace: while it is missing, nobody can take the call for complete.
  const std::size_t end = arguments_end_ == 0 ? raw_.size() : arguments_end_ - 1;
  message::append_arguments(out, index, slice(sent_, end));
  sent_ = end;
}

void JsonCall::close(std::uint32_t index, message::Events& out) {
  start(index, out);
  switch (form_) {
    case Form::kObject:
      message::append_arguments(out, index, slice(sent_, arguments_end_));
      break;
    case Form::kString:
      message::append_arguments(out, index, unescaped_);
      break;
    case Form::kNull:
    case Form::kAbsent:
      message::append_arguments(out, index, "{}");
      break;
  }
  out.emplace_back(message::ToolCallEnd{index});
}

}  // namespace verbatim::chat::parsers
