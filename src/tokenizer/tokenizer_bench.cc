// VERBATIM_BENCH_MODEL names a folder with tokenizer.json, VERBATIM_BENCH_TEXT a file. Both are
// optional: without them the small test vocabulary and a made-up text are used. Beside Hugging
// Face: tests/oracle/bench_tokenizer.py.
#include <cstdlib>
#include <filesystem>

#include <benchmark/benchmark.h>

#include "tokenizer/tokenizer.h"

namespace verbatim::tokenizer {
namespace {

std::string from_environment(const char* name, std::string otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : std::move(otherwise);
}

std::string model() {
  return from_environment("VERBATIM_BENCH_MODEL", "tests/cases/toy");
}

std::string text() {
  const std::string path = from_environment("VERBATIM_BENCH_TEXT", "");
  if (!path.empty()) return base::system_files()->read(path, 1ULL << 30).value();
  std::string out;
  for (int i = 0; i < 20000; ++i)
    out += "the order of word " + std::to_string(i * 7919) + " isn't random;\n";
  return out;
}

std::shared_ptr<const Tokenizer> loaded(const LoadOptions& options = {}) {
  const auto files = base::system_files();
  return Tokenizer::load(*files, model(), options).value();
}

void load_from_json(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(loaded());
}
BENCHMARK(load_from_json)->Unit(benchmark::kMillisecond);

void load_from_cache(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path() / "verbatim-tokenizer-bench";
  loaded({.cache_dir = folder});
  for (auto _ : state) benchmark::DoNotOptimize(loaded({.cache_dir = folder}));
}
BENCHMARK(load_from_cache)->Unit(benchmark::kMillisecond);

// Each iteration sees the text for the first time.
void encode_unseen(benchmark::State& state) {
  const std::string input = text();
  TokenIds ids;
  for (auto _ : state) {
    state.PauseTiming();
    const auto tokenizer =
        loaded({.cache_dir = std::filesystem::temp_directory_path() / "verbatim-tokenizer-bench"});
    ids.clear();
    state.ResumeTiming();
    tokenizer->encode(input, ids);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
}
BENCHMARK(encode_unseen)->Unit(benchmark::kMillisecond);

void encode_again(benchmark::State& state) {
  const std::string input = text();
  const auto tokenizer = loaded();
  TokenIds ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer->encode(input, ids);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
}
BENCHMARK(encode_again)->Unit(benchmark::kMillisecond);

void encode_one_long_word(benchmark::State& state) {
  const std::string input(1 << 20, 'a');
  const auto tokenizer = loaded();
  TokenIds ids;
  for (auto _ : state) {
    ids.clear();
    tokenizer->encode(input, ids);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
}
BENCHMARK(encode_one_long_word)->Unit(benchmark::kMillisecond);

void decode(benchmark::State& state) {
  const std::string input = text();
  const auto tokenizer = loaded();
  TokenIds ids;
  tokenizer->encode(input, ids);
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer->decode(ids));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
}
BENCHMARK(decode)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace verbatim::tokenizer
