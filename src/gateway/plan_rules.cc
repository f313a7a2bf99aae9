#include "gateway/plan_rules.h"

#include <algorithm>

namespace verbatim::gateway {

using base::ErrorKind;
using base::Result;
using base::Status;

namespace {

// Messages whose reasoning stands in the row of `leaf`: sampled there, or shown by the template.
std::vector<bool> reasoning_in_row(const trajectory::TurnPtr& leaf) {
  std::vector<bool> shown(leaf->message_count, false);
  for (const auto& turn : trajectory::path_to(leaf)) {
    const auto& reasoning = turn->answer.reasoning;
    if (reasoning && !reasoning->empty()) shown[turn->message_count - 1] = true;
    for (const auto& span : turn->spans) {
      if (span.source == message::SpanSource::kMessage && span.message < shown.size() &&
          span.field == message::Field::kReasoning)
        shown[span.message] = true;
    }
  }
  return shown;
}

std::ptrdiff_t count_answers(std::span<const message::Message> messages) {
  return std::count_if(messages.begin(), messages.end(), [](const auto& message) {
    return message.role == message::Role::kAssistant;
  });
}

}  // namespace

Status check_rollback(const TurnRequest& request, std::span<const trajectory::TurnPtr> line,
                      const Plan& plan) {
  const SessionMode mode = request.rules.mode;
  std::size_t back = 0;
  while (back < line.size() && line[line.size() - 1 - back] != plan.parent) ++back;
  const auto added = std::span<const message::Message>(request.messages).subspan(plan.suffix);
  const bool answers = count_answers(added) > count_answers(line.back()->messages);
  if (mode == SessionMode::kLinear && back <= 1 && !answers) return {};
  const auto& difference = plan.attach.difference;
  std::string where = "its tools or template arguments are others";
  if (difference && difference->field == "missing") {
    where = "it ends at messages[" + std::to_string(difference->message) + "]";
  } else if (difference) {
    where = "messages[" + std::to_string(difference->message) + "]." + difference->field +
            " is another";
  }
  const std::string found = "the request goes back " + std::to_string(back) + " of the session's " +
                            std::to_string(line.size()) + " turns (" + where + "); ";
  auto refused =
      mode == SessionMode::kStrict
          ? base::error(ErrorKind::kConflict,
                        found + "a strict session takes only what goes on behind its last turn")
          : base::error(ErrorKind::kInvalidRequest,
                        found + (back <= 1 ? "a linear session takes no other answer in place of "
                                             "the one that was sampled"
                                           : "a linear session goes back one turn at most"));
  refused.message += ": repeat the history as it was, or create a session of mode tree";
  refused.field = "messages";
  refused.code = "session_diverged";
  return refused;
}

std::vector<message::Message> recorded_history(const TurnRequest& request, const Plan& plan) {
  auto messages = trajectory::messages_of(plan.parent);
  messages.insert(messages.end(),
                  request.messages.begin() + static_cast<std::ptrdiff_t>(plan.suffix),
                  request.messages.end());
  return messages;
}

Result<bool> keeps_reasoning(const chat::Renderer& renderer, const TurnRequest& request,
                             const chat::TemplateInputs& inputs, const Plan& plan) {
  auto missing = reasoning_in_row(plan.parent);
  const auto text = renderer.text(recorded_history(request, plan), inputs);
  if (!text) return text.error();
  for (const auto& run : text->runs) {
    const auto source = chat::source_of(run.source);
    if (source.kind == message::SpanSource::kMessage &&
        source.field == message::Field::kReasoning && source.message < missing.size())
      missing[source.message] = false;
  }
  return std::none_of(missing.begin(), missing.end(), [](bool each) { return each; });
}

}  // namespace verbatim::gateway
