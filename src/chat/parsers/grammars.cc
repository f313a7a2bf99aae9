#include "chat/parsers/hermes.h"
#include "chat/parsers/parser.h"

namespace verbatim::chat::parsers {
namespace {

constexpr Grammar kGrammars[] = {
    {.name = "hermes",
     .markers = kHermesMarkers,
     .reasoning_open = "<think>",
     .reasoning_close = "</think>",
     .turn_open = "<|im_start|>",
     .turn_end = "<|im_end|>",
     .make = make_hermes},
};

}  // namespace

std::span<const Grammar> grammars() {
  return kGrammars;
}

const Grammar* grammar_named(std::string_view name) {
  for (const auto& grammar : kGrammars) {
    if (grammar.name == name) return &grammar;
  }
  return nullptr;
}

bool reasoning_open(const Grammar& grammar, std::string_view tail) {
  if (grammar.reasoning_open.empty()) return false;
  const auto opener = grammar.turn_open.empty() ? tail.npos : tail.rfind(grammar.turn_open);
  const auto turn = opener == tail.npos ? tail : tail.substr(opener);
  const auto open = turn.rfind(grammar.reasoning_open);
  if (open == turn.npos) return false;
  const auto close = turn.rfind(grammar.reasoning_close);
  return close == turn.npos || close < open;
}

}  // namespace verbatim::chat::parsers
