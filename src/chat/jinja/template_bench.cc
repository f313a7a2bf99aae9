// VERBATIM_BENCH_MODEL names a folder with chat_template.jinja; without it the toy ChatML template
// is used. Set it to Qwen3's for the numbers of docs/design.md 9.
#include <cstdlib>
#include <string>

#include <benchmark/benchmark.h>

#include "base/files.h"
#include "chat/jinja/template.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::chat::jinja {
namespace {

std::string template_source() {
  const char* model = std::getenv("VERBATIM_BENCH_MODEL");
  const std::string path = model != nullptr ? std::string(model) + "/chat_template.jinja"
                                            : "tests/cases/toy/chatml.jinja";
  return base::system_files()->read(path, 1 << 20).value();
}

std::string words(int count, int seed) {
  std::string out;
  for (int i = 0; i < count; ++i) {
    out += "word" + std::to_string((seed + i * 7919) % 1000);
    out += i % 12 == 11 ? ".\n" : " ";
  }
  return out;
}

void write_message(json::Writer& out, std::string_view role, const std::string& content) {
  out.begin_object().field("role", role).field("content", std::string_view(content)).end_object();
}

void write_tool_call(json::Writer& out, int turn) {
  out.begin_object().field("role", "assistant").field("content", "");
  out.field("reasoning_content", std::string_view(words(30, turn)));
  out.key("tool_calls").begin_array().begin_object();
  out.field("id", "call_1").field("type", "function").key("function").begin_object();
  out.field("name", "search").key("arguments").begin_object();
  out.field("query", std::string_view(words(6, turn))).field("limit", 10).field("exact", true);
  out.end_object().end_object().end_object().end_array().end_object();
}

void write_tool(json::Writer& out, int number) {
  out.begin_object().field("type", "function").key("function").begin_object();
  out.field("name", std::string_view("tool" + std::to_string(number)));
  out.field("description", std::string_view(words(25, number)));
  out.key("parameters").begin_object().field("type", "object").key("properties").begin_object();
  for (const char* name : {"query", "limit", "exact"}) {
    out.key(name).begin_object().field("type", "string");
    out.field("description", std::string_view(words(10, number))).end_object();
  }
  out.end_object().key("required").begin_array().string("query").end_array();
  out.end_object().end_object().end_object();
}

// A system message, ten turns of user, tool call, tool result and answer; five tools.
std::string agent_context() {
  json::Writer out;
  out.begin_object().key("messages").begin_array();
  write_message(out, "system", words(60, 1));
  for (int turn = 0; turn < 10; ++turn) {
    write_message(out, "user", words(30, turn));
    write_tool_call(out, turn);
    write_message(out, "tool", words(60, turn));
    write_message(out, "assistant", words(40, turn));
  }
  out.end_array().key("tools").begin_array();
  for (int i = 0; i < 5; ++i) write_tool(out, i);
  out.end_array().field("add_generation_prompt", true).end_object();
  return out.take();
}

void render_41_messages_and_5_tools(benchmark::State& state) {
  const auto parsed = Template::parse(template_source()).value();
  const auto document = json::Document::parse(agent_context());
  const Value context = Value::from_json(document->root(), 1);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const auto text = parsed->render(context);
    if (!text) return state.SkipWithError(text.error().message.c_str());
    bytes += text->bytes.size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(render_41_messages_and_5_tools)->Unit(benchmark::kMicrosecond);

void build_context(benchmark::State& state) {
  const auto document = json::Document::parse(agent_context());
  for (auto _ : state) benchmark::DoNotOptimize(Value::from_json(document->root(), 1));
}
BENCHMARK(build_context)->Unit(benchmark::kMicrosecond);

void parse_template(benchmark::State& state) {
  const std::string source = template_source();
  for (auto _ : state) benchmark::DoNotOptimize(Template::parse(source));
}
BENCHMARK(parse_template)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace verbatim::chat::jinja
