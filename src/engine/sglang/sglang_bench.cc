#include <string>
#include <vector>

#include "base/random.h"
#include "benchmark/benchmark.h"
#include "engine/sglang/answer_reader.h"
#include "engine/sglang/request_builder.h"
#include "json/writer.h"

namespace verbatim::engine::sglang {
namespace {

void print_prompt(benchmark::State& state) {
  base::SeededRandom random(1);
  TokenIds prompt;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    prompt.push_back(static_cast<TokenId>(random.below(151'936)));
  TokenRequest request;
  request.request_id = "r";
  request.prompt = {prompt};
  request.max_new_tokens = 100;
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto body = generate_body(request);
    bytes += body.size();
    benchmark::DoNotOptimize(body.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(print_prompt)->Arg(1'000)->Arg(100'000);

// A stream of `count` events, each with one new id.
std::vector<std::string> stream(std::size_t count, Form form) {
  base::SeededRandom random(2);
  std::vector<std::pair<double, TokenId>> sampled;
  std::vector<std::string> events;
  for (std::size_t i = 0; i < count; ++i) {
    sampled.emplace_back(-static_cast<double>(random.below(1u << 30)) / 1e8, random.below(151'936));
    const std::size_t from = form == Form::kAll ? 0 : i;
    json::Writer w;
    w.begin_object().field("text", "some text").key("output_ids").begin_array();
    for (std::size_t k = from; k <= i; ++k) w.unsigned_integer(sampled[k].second);
    w.end_array().key("meta_info").begin_object().field("id", "r").key("finish_reason");
    w.raw(i + 1 == count ? R"({"type":"length"})" : "null").field("prompt_tokens", 3);
    w.field("completion_tokens", std::uint64_t{i + 1}).key("output_token_logprobs").begin_array();
    for (std::size_t k = from; k <= i; ++k) {
      w.begin_array().number(sampled[k].first).unsigned_integer(sampled[k].second).null();
      w.end_array();
    }
    w.end_array().end_object().end_object();
    events.push_back(w.take());
  }
  return events;
}

void read_stream(benchmark::State& state, Form form) {
  const TokenIds prompt = {1, 2, 3};
  const auto events = stream(static_cast<std::size_t>(state.range(0)), form);
  std::size_t bytes = 0;
  for (auto _ : state) {
    AnswerReader reader({{prompt}, 100'000, 151'936});
    for (const auto& event : events) {
      bytes += event.size();
      const auto chunk = reader.feed(event);
      if (!chunk.ok()) state.SkipWithError(chunk.error().message.c_str());
    }
    if (!reader.finish().ok()) state.SkipWithError("no end");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_CAPTURE(read_stream, incremental, Form::kNew)->Arg(200)->Arg(2'000);
BENCHMARK_CAPTURE(read_stream, cumulative, Form::kAll)->Arg(200)->Arg(2'000);

}  // namespace
}  // namespace verbatim::engine::sglang
