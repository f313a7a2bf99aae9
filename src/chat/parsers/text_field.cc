#include "chat/parsers/text_field.h"

#include "message/fold.h"

namespace verbatim::chat::parsers {
namespace {

constexpr std::string_view kBlank = " \n\r\t";

}  // namespace

void TextField::emit(std::string_view text, message::Events& out) const {
  if (field_ == Field::kText) {
    message::append_text(out, text);
    return;
  }
  message::append_reasoning(out, text);
}

void TextField::add(std::string_view text, message::Events& out) {
  if (layout_ == Layout::kKept && !tag_since_text_) {
    emit(text, out);
    begun_ = true;
    return;
  }
  const auto last = text.find_last_not_of(kBlank);
  if (last == text.npos) {
    held_ += text;
    return;
  }
  if (!begun_) {
    const auto first = text.find_first_not_of(kBlank);
    held_ += text.substr(0, first);
    text.remove_prefix(first);
    held_.erase(0, held_.find_last_of("\n\r") + 1);  // npos + 1 is 0: an indent alone stays
    begun_ = true;
  }
  const auto body = text.substr(0, text.find_last_not_of(kBlank) + 1);
  emit(held_, out);
  emit(body, out);
  held_ = text.substr(body.size());
  tag_since_text_ = false;
}

void TextField::finish(message::Events& out) {
  if (begun_ && !tag_since_text_) emit(held_, out);
  held_.clear();
}

}  // namespace verbatim::chat::parsers
