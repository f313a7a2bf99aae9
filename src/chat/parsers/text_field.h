#pragma once

#include <string>
#include <string_view>

#include "message/event.h"

namespace verbatim::chat::parsers {

// Which field of the message a text goes to.
enum class Field { kText, kReasoning };

// Gives out the text of one field while it grows, without the white space that is layout of the
// template: line breaks in front of the first character, and everything blank between the last
// character and a tag. Inner white space is kept as it is, whatever stands between.
//
// Blank runs are held until it is known what follows.
//
// With kKept all of it is given out at once, but for what is blank between two tags.
class TextField {
 public:
  enum class Layout { kDropped, kKept };
  explicit TextField(Field field, Layout layout = Layout::kDropped)
      : field_(field), layout_(layout) {}

  void add(std::string_view text, message::Events& out);
  // A tag stands here: the blank run in front of it is layout unless more text follows.
  void tag() { tag_since_text_ = true; }
  // The turn ends here: what is held is text of the model, unless a tag stands between.
  void finish(message::Events& out);

 private:
  void emit(std::string_view text, message::Events& out) const;

  Field field_;
  Layout layout_;
  bool begun_ = false;
  bool tag_since_text_ = false;
  std::string held_;
};

}  // namespace verbatim::chat::parsers
