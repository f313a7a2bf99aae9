// A turn of reasoning, text and a call with a long argument, fed in pieces of one token's size.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "chat/parsers/parser.h"
#include "message/fold.h"

namespace verbatim::chat::parsers {
namespace {

constexpr std::size_t kPiece = 4;  // bytes of a token, on average

void feed(Parser& parser, const std::string& text, message::Events& events, std::size_t& sum) {
  for (std::size_t at = 0; at < text.size(); at += kPiece) {
    events.clear();
    parser.text(std::string_view(text).substr(at, kPiece), events);
    sum += events.size();
  }
}

void hermes_turn(benchmark::State& state) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "the quick brown fox ";
  const std::string call =
      "\n{\"name\": \"write_file\", \"arguments\": {\"content\": \"" + words + "\"}}\n";
  const Grammar& grammar = *grammar_named("hermes");
  std::size_t bytes = 0;
  std::size_t sum = 0;
  message::Events events;
  for (auto _ : state) {
    const auto parser = grammar.make({.reasoning_open = true});
    feed(*parser, words, events, sum);
    parser->marker(1, events);
    feed(*parser, words, events, sum);
    parser->marker(2, events);
    feed(*parser, call, events, sum);
    parser->marker(3, events);
    parser->finish(Ending::kByItself, events);
    bytes += 2 * words.size() + call.size();
  }
  benchmark::DoNotOptimize(sum);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["per_token"] =
      benchmark::Counter(static_cast<double>(bytes) / kPiece,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(hermes_turn);

}  // namespace
}  // namespace verbatim::chat::parsers
