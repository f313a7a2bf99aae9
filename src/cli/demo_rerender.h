#pragma once

#include <string>
#include <vector>

#include "chat/renderer.h"
#include "cli/demo_record.h"

namespace verbatim::cli {

// What a client would have sent that renders the history of a request anew, beside what was sent.
struct Rerender {
  base::TokenIds recorded;
  base::TokenIds rendered;
  std::size_t first_difference = 0;  // an index of both; their length where one ends there
};

// An answer of the history, as it was sampled and as it comes out of a new rendering.
struct AnswerLoss {
  std::size_t sampled = 0;  // ids
  std::size_t kept = 0;     // of them up to the first difference
  bool other_ids = false;   // the first difference: other ids for the same text
  bool lost_reasoning = false;
  bool changed_arguments = false;
};

// Renders the request whose body is given with the model's own template, and compares the ids with
// the prompt on record.
base::Result<Rerender> rerender(const chat::Renderer& renderer, const std::string& request_body,
                                const base::TokenIds& recorded);

// For each answer in the history of the last turn.
base::Result<std::vector<AnswerLoss>> answer_losses(const chat::Renderer& renderer,
                                                    const std::string& last_request_body,
                                                    const std::vector<DemoTurn>& turns);

}  // namespace verbatim::cli
