#include "chat/parsers/hermes.h"

#include <optional>
#include <string>
#include <vector>

#include "chat/parsers/json_call.h"
#include "chat/parsers/text_field.h"
#include "message/fold.h"

namespace verbatim::chat::parsers {
namespace {

using message::Events;
using message::FinishReason;

enum Tag : MarkerIndex { kThinkOpen, kThinkClose, kCallOpen, kCallClose };

std::string_view spelling(MarkerIndex marker) {
  return kHermesMarkers[marker];
}

// Calls inside open reasoning. Until the reasoning is closed, or the turn over, nobody knows
// whether they are drafts or real, so everything from the first tag on is kept here. Memory: the
// output.
class Draft {
 public:
  // Begins behind a kCallOpen.
  Draft() {
    pieces_.push_back({kCallOpen, {}});
    call_.emplace();
  }

  // Keeps the piece.
  void text(std::string_view text) {
    if (pieces_.back().tag) pieces_.push_back({});
    pieces_.back().text += text;
    if (!call_) return;
    call_->feed(text);
    if (call_->broken()) call_.reset();
  }
  // Keeps the tag, unless it leaves no call to wait for.
  void marker(MarkerIndex marker) {
    if (call_ && call_->in_string()) {
      text(spelling(marker));
      return;
    }
    close_call(marker == kCallClose || marker == kCallOpen);
    if (!open()) return;
    pieces_.push_back({marker, {}});
    if (marker == kCallOpen) call_.emplace();
  }
  // The turn ends here of the model's own will: a whole object without its close tag is a call.
  void end() { close_call(true); }

  // A whole call stands in it.
  [[nodiscard]] bool has_call() const { return has_call_; }
  // A call is being read, or one was read: keep waiting.
  [[nodiscard]] bool open() const { return has_call_ || call_.has_value(); }

  [[nodiscard]] std::string spelled() const {
    std::string out;
    for (const auto& piece : pieces_) out += piece.tag ? spelling(*piece.tag) : piece.text;
    return out;
  }
  void replay(Parser& parser, Events& out) const {
    for (const auto& piece : pieces_) {
      if (piece.tag) {
        parser.marker(*piece.tag, out);
      } else {
        parser.text(piece.text, out);
      }
    }
  }

 private:
  struct Piece {
    std::optional<MarkerIndex> tag;
    std::string text;
  };

  void close_call(bool closes) {
    if (call_ && closes && call_->whole()) has_call_ = true;
    call_.reset();
  }

  std::vector<Piece> pieces_;
  std::optional<JsonCall> call_;
  bool has_call_ = false;
};

class Hermes final : public Parser {
 public:
  explicit Hermes(const TurnStart& start)
      : tools_(start.tools),
        state_(start.reasoning_open ? State::kReasoning : State::kText),
        reasoning_(Field::kReasoning, layout(start)),
        text_(Field::kText, layout(start)) {}

  void text(std::string_view text, Events& out) override;
  void marker(MarkerIndex marker, Events& out) override;
  FinishReason finish(Ending ending, Events& out) override;

 private:
  enum class State { kReasoning, kDraft, kText, kCall };

  static TextField::Layout layout(const TurnStart& start) {
    return start.keeps_layout ? TextField::Layout::kKept : TextField::Layout::kDropped;
  }

  void text_marker(MarkerIndex marker, Events& out);
  void reasoning_marker(MarkerIndex marker, Events& out);
  void draft_marker(MarkerIndex marker, Events& out);
  void drop_draft(Events& out);
  void call_text(std::string_view text, Events& out);
  void call_marker(MarkerIndex marker, Events& out);
  void finish_draft(bool by_itself, Events& out);
  void finish_call(bool by_itself, Events& out);
  void close_call(Events& out);
  void break_call(Events& out);

  bool tools_;
  State state_;
  bool at_start_ = true;  // nothing but white space so far
  TextField reasoning_;
  TextField text_;
  std::optional<Draft> draft_;
  std::optional<JsonCall> call_;
  std::uint32_t calls_ = 0;  // started
  std::size_t complete_ = 0;
};

void Hermes::text(std::string_view text, Events& out) {
  if (text.find_first_not_of(" \n\r\t") != text.npos) at_start_ = false;
  switch (state_) {
    case State::kReasoning:
      reasoning_.add(text, out);
      return;
    case State::kText:
      text_.add(text, out);
      return;
    case State::kDraft:
      draft_->text(text);
      if (!draft_->open()) drop_draft(out);
      return;
    case State::kCall:
      call_text(text, out);
      return;
  }
}

void Hermes::marker(MarkerIndex marker, Events& out) {
  switch (state_) {
    case State::kReasoning:
      reasoning_marker(marker, out);
      break;
    case State::kText:
      text_marker(marker, out);
      break;
    case State::kDraft:
      draft_marker(marker, out);
      break;
    case State::kCall:
      call_marker(marker, out);
      break;
  }
  at_start_ = false;
}

void Hermes::text_marker(MarkerIndex marker, Events& out) {
  if (marker == kThinkOpen && at_start_) {
    state_ = State::kReasoning;
    return;
  }
  if (marker == kCallOpen && tools_) {
    text_.tag();
    call_.emplace();
    state_ = State::kCall;
    return;
  }
  text_.add(spelling(marker), out);
}

void Hermes::reasoning_marker(MarkerIndex marker, Events& out) {
  // The prompt opened the block and the model opens it once more.
  if (marker == kThinkOpen && at_start_) return;
  if (marker == kThinkClose) {
    state_ = State::kText;
    return;
  }
  if (marker == kCallOpen && tools_) {
    draft_.emplace();
    state_ = State::kDraft;
    return;
  }
  reasoning_.add(spelling(marker), out);
}

void Hermes::draft_marker(MarkerIndex marker, Events& out) {
  // The first close tag ends the reasoning, wherever it stands.
  if (marker != kThinkClose) {
    draft_->marker(marker);
    if (draft_->open()) return;
  }
  drop_draft(out);
  reasoning_marker(marker, out);
}

// What is kept was reasoning.
void Hermes::drop_draft(Events& out) {
  reasoning_.add(draft_->spelled(), out);
  draft_.reset();
  state_ = State::kReasoning;
}

void Hermes::call_text(std::string_view text, Events& out) {
  const std::size_t taken = call_->feed(text);
  if (!call_->broken()) {
    call_->emit(calls_, out);
    return;
  }
  break_call(out);
  text_.add(text.substr(taken), out);
}

void Hermes::call_marker(MarkerIndex marker, Events& out) {
  if (call_->in_string()) {
    call_text(spelling(marker), out);
    return;
  }
  const bool closes = marker == kCallClose || marker == kCallOpen;
  if (!closes || !call_->whole()) {
    break_call(out);
    text_marker(marker, out);
    return;
  }
  close_call(out);
  if (marker == kCallOpen) text_marker(marker, out);
}

void Hermes::close_call(Events& out) {
  call_->close(calls_++, out);
  ++complete_;
  call_.reset();
  state_ = State::kText;
}

// Broken calls are text, tags included. One that streams already stays in the answer as a call that
// never gets complete; its text is given out all the same, so that nothing vanishes.
void Hermes::break_call(Events& out) {
  call_->emit(calls_, out);
  if (call_->streams()) ++calls_;
  text_.add(spelling(kCallOpen), out);
  text_.add(call_->raw(), out);
  call_.reset();
  state_ = State::kText;
}

// A whole call with no close of reasoning behind it ends the reasoning; else all was reasoning.
void Hermes::finish_draft(bool by_itself, Events& out) {
  if (by_itself) draft_->end();
  if (!draft_->has_call()) {
    drop_draft(out);
    return;
  }
  const Draft draft = std::move(*draft_);
  draft_.reset();
  state_ = State::kText;
  draft.replay(*this, out);
}

void Hermes::finish_call(bool by_itself, Events& out) {
  if (!by_itself) {  // cut: left as it is, never made to look complete
    call_->emit(calls_, out);
    return;
  }
  if (call_->whole()) {
    close_call(out);
    return;
  }
  break_call(out);
}

FinishReason Hermes::finish(Ending ending, Events& out) {
  const bool by_itself = ending == Ending::kByItself;
  if (state_ == State::kDraft) finish_draft(by_itself, out);
  if (state_ == State::kCall) finish_call(by_itself, out);
  if (state_ == State::kReasoning) reasoning_.finish(out);
  text_.finish(out);
  const bool cut = ending == Ending::kLength;
  return message::client_finish(cut ? FinishReason::kLength : FinishReason::kStop, complete_);
}

}  // namespace

std::unique_ptr<Parser> make_hermes(const TurnStart& start) {
  return std::make_unique<Hermes>(start);
}

}  // namespace verbatim::chat::parsers
