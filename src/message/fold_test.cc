#include "message/fold.h"

#include <gtest/gtest.h>

namespace verbatim::message {
namespace {

TEST(Fold, joins_deltas_of_each_field_and_call) {
  const Events events = {ReasoningDelta{"hm"},         ReasoningDelta{"m"},
                         TextDelta{"I look "},         TextDelta{"it up."},
                         ToolCallStart{0, "", "ping"}, ToolCallArguments{0, "{"},
                         ToolCallArguments{0, "}"},    ToolCallEnd{0},
                         ToolCallStart{1, "x", "f"},   ToolCallArguments{1, "{\"a\": "}};
  const Folded folded = fold(events);
  EXPECT_EQ(folded.reasoning, "hmm");
  EXPECT_EQ(folded.text, "I look it up.");
  EXPECT_EQ(folded.calls,
            (std::vector<FoldedCall>{{"", "ping", "{}", true}, {"x", "f", "{\"a\": ", false}}));
  EXPECT_EQ(folded.complete_calls(), 1u);
}

TEST(Fold, a_turn_without_reasoning_gives_a_message_without_the_field) {
  EXPECT_FALSE(fold(Events{TextDelta{"a"}}).to_message().reasoning.has_value());
  EXPECT_EQ(fold(Events{ReasoningDelta{"a"}}).to_message().reasoning, "a");
}

TEST(Fold, length_stays_length_and_a_cut_call_asks_for_nothing) {
  EXPECT_EQ(client_finish(FinishReason::kLength, 1), FinishReason::kLength);
  EXPECT_EQ(client_finish(FinishReason::kStop, 1), FinishReason::kToolCalls);
  EXPECT_EQ(client_finish(FinishReason::kStop, 0), FinishReason::kStop);
}

TEST(Append, grows_the_last_event_only_where_it_is_of_the_same_kind_and_call) {
  Events out;
  append_text(out, "");
  EXPECT_TRUE(out.empty());
  append_text(out, "a");
  append_text(out, "b");
  append_arguments(out, 0, "c");
  append_arguments(out, 1, "d");
  append_arguments(out, 1, "e");
  append_text(out, "f");
  EXPECT_EQ(out, (Events{TextDelta{"ab"}, ToolCallArguments{0, "c"}, ToolCallArguments{1, "de"},
                         TextDelta{"f"}}));
}

TEST(Fold, a_message_unfolded_and_folded_is_the_same) {
  Message said;
  said.role = Role::kAssistant;
  said.text = "text";
  said.reasoning = "why";
  said.tool_calls = {{"a", "f", "{}"}, {"b", "g", "{\"x\": 1}"}};
  EXPECT_EQ(fold(unfold(said)).to_message(), said);
  said.tool_calls.clear();
  said.reasoning.reset();
  EXPECT_EQ(fold(unfold(said)).to_message(), said);
  said.text.clear();
  EXPECT_TRUE(unfold(said).empty());
}

}  // namespace
}  // namespace verbatim::message
