#pragma once

#include <vector>

#include "chat/renderer.h"
#include "cli/demo_agent.h"
#include "cli/demo_page.h"
#include "cli/demo_record.h"
#include "cli/demo_rerender.h"

namespace verbatim::cli {

// The sections of the demo.

void print_conversation(Page& page, const std::vector<Said>& said);

// Every id of the last row, by who wrote it.
void print_trajectory(Page& page, const tokenizer::Tokenizer& tokenizer,
                      const std::vector<Said>& said, const std::vector<DemoTurn>& turns);

// Where the prompt of the second turn would have gone wrong, and what is lost by the last.
void print_rerender(Page& page, const tokenizer::Tokenizer& tokenizer, const Rerender& second,
                    const Rerender& last, const std::vector<AnswerLoss>& losses);

}  // namespace verbatim::cli
