#include "cli/demo_report.h"

#include <algorithm>
#include <span>

namespace verbatim::cli {
namespace {

using base::TokenId;
using base::TokenIds;
using message::Role;

constexpr std::size_t kSpeaker = 13;  // column behind the speaker's name
constexpr std::size_t kShown = 5;     // ids from a difference on

Ink ink_of(Role role) {
  if (role == Role::kTool) return Ink::kTool;
  if (role == Role::kAssistant) return Ink::kSampled;
  return role == Role::kUser ? Ink::kUser : Ink::kSystem;
}

Ink ink_of(const RecordSpan& span, const std::vector<Said>& said) {
  if (span.source == "tools") return Ink::kTools;
  if (span.source == "message" && span.message < said.size())
    return ink_of(said[span.message].role);
  return Ink::kTemplate;
}

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(text.size(), columns), ' ');
  return text;
}

std::string right(std::size_t number, std::size_t columns) {
  std::string text = std::to_string(number);
  return std::string(columns - std::min(columns, text.size()), ' ') + text;
}

void print_call(Page& page, const message::FoldedCall& call) {
  page.words(Ink::kBold, "calls " + call.name + " " + call.arguments);
  page.end_line();
}

void print_legend(Page& page) {
  page.indent(2);
  if (!page.coloured()) {
    page.words(Ink::kPlain, "A mark says who wrote what follows, up to the next mark.\n\n");
    return;
  }
  constexpr std::pair<Ink, const char*> kLegend[] = {{Ink::kTemplate, "chat template"},
                                                     {Ink::kTools, "tool declarations"},
                                                     {Ink::kUser, "system and user"},
                                                     {Ink::kTool, "tool results"},
                                                     {Ink::kSampled, "sampled by the model"}};
  for (const auto& [ink, what] : kLegend) {
    page.words(ink, what);
    page.words(Ink::kPlain, "   ");
  }
  page.end_line();
  page.end_line();
}

// Runs of one colour, so that a mark comes once for each.
class RunPrinter {
 public:
  RunPrinter(Page& page, const tokenizer::Tokenizer& tokenizer)
      : page_(page), tokenizer_(tokenizer) {}
  void add(Ink ink, std::span<const TokenId> ids) {
    if (ids.empty()) return;
    if (ink != ink_) flush();
    ink_ = ink;
    run_.insert(run_.end(), ids.begin(), ids.end());
  }
  void flush() {
    if (run_.empty()) return;
    page_.mark(ink_);
    page_.exact(ink_, tokenizer_.decode(run_));
    run_.clear();
  }

 private:
  Page& page_;
  const tokenizer::Tokenizer& tokenizer_;
  Ink ink_ = Ink::kPlain;
  TokenIds run_;
};

void print_ids(Page& page, const tokenizer::Tokenizer& tokenizer, std::string_view what, Ink ink,
               const TokenIds& ids, std::size_t from) {
  page.words(Ink::kPlain, padded(std::string(what), 16));
  const std::size_t end = std::min(ids.size(), from + kShown);
  for (std::size_t i = from; i < end; ++i) {
    const std::string text = Page::quoted(tokenizer.bytes(ids[i]));
    page.words(i == from ? ink : Ink::kPlain, std::to_string(ids[i]) + " " + text + "  ");
  }
  page.words(Ink::kFaint, end == ids.size() ? "" : "...");
  page.end_line();
}

std::string reasons(const AnswerLoss& loss) {
  if (loss.kept == loss.sampled) return "the same ids, by luck";
  std::string why;
  const auto add = [&why](const char* reason) {
    if (!why.empty()) why += ", ";
    why += reason;
  };
  if (loss.lost_reasoning) add("reasoning is gone");
  if (loss.other_ids && !loss.lost_reasoning) add("other ids for the same text");
  if (loss.changed_arguments) add("arguments rewritten");
  return why.empty() ? "another text" : why;
}

}  // namespace

void print_conversation(Page& page, const std::vector<Said>& said) {
  for (const auto& message : said) {
    page.indent(2);
    page.words(ink_of(message.role),
               padded(std::string(message::name(message.role)), kSpeaker - 2));
    page.indent(kSpeaker);
    if (!message.reasoning.empty()) {
      page.words(Ink::kFaint, "(thinks: " + message.reasoning + ")");
      page.end_line();
    }
    if (!message.text.empty()) {
      page.words(Ink::kPlain, message.text);
      page.end_line();
    }
    for (const auto& call : message.calls) print_call(page, call);
  }
}

void print_trajectory(Page& page, const tokenizer::Tokenizer& tokenizer,
                      const std::vector<Said>& said, const std::vector<DemoTurn>& turns) {
  print_legend(page);
  page.indent(2);
  RunPrinter runs(page, tokenizer);
  for (const auto& each : turns) {
    const std::span<const TokenId> prompt(each.turn.prompt);
    std::size_t at = each.inherited;
    for (const auto& span : each.spans) {
      runs.add(ink_of(span, said), prompt.subspan(at, span.count));
      at += span.count;
    }
    runs.add(Ink::kSampled, each.turn.completion);
  }
  runs.flush();
  page.end_line();
}

void print_rerender(Page& page, const tokenizer::Tokenizer& tokenizer, const Rerender& second,
                    const Rerender& last, const std::vector<AnswerLoss>& losses) {
  page.indent(2);
  page.words(Ink::kPlain,
             "A client that renders the agent's messages with the same template goes "
             "wrong in the prompt of turn 2 at id " +
                 std::to_string(second.first_difference) + " of " +
                 std::to_string(second.recorded.size()) + ":");
  page.end_line();
  page.end_line();
  page.indent(4);
  print_ids(page, tokenizer, "sampled", Ink::kGood, second.recorded, second.first_difference);
  print_ids(page, tokenizer, "rendered anew", Ink::kBad, second.rendered, second.first_difference);
  page.end_line();
  page.indent(2);
  page.words(Ink::kPlain, "By turn " + std::to_string(losses.size() + 1) + ":");
  page.end_line();
  page.end_line();
  page.indent(4);
  page.words(Ink::kFaint, "answer   ids sampled   equal up to   then");
  page.end_line();
  std::size_t sampled = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    sampled += losses[i].sampled;
    page.words(Ink::kPlain, right(i + 1, 6) + right(losses[i].sampled, 14) +
                                right(losses[i].kept, 14) + "   " + reasons(losses[i]));
    page.end_line();
  }
  page.end_line();
  page.indent(2);
  page.words(Ink::kPlain, "The cost: from id " + std::to_string(last.first_difference) +
                              " on the prompt is not the one the model answered. All " +
                              std::to_string(sampled) +
                              " sampled ids lie behind it: their logprobs belong to another "
                              "context, and the engine computes " +
                              std::to_string(last.rendered.size() - last.first_difference) +
                              " of " + std::to_string(last.rendered.size()) + " ids again.");
  page.end_line();
}

}  // namespace verbatim::cli
