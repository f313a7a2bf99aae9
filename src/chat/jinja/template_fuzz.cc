#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "chat/jinja/template.h"

// The input is a template; it is rendered with a small context. Whatever it is, the answer comes
// within the limits, and the runs of the text tile it.
namespace verbatim::chat::jinja {
namespace {

Value message(const char* role, const char* content, SourceId source) {
  return Value::dict(
      std::vector<std::pair<std::string, Value>>{{"role", Value::string(role)},
                                                 {"content", Value::string(content, source)},
                                                 {"n", Value::floating(1e-7, source)}});
}

Value small_context() {
  std::vector<Value> messages = {message("system", "Be é<b>", 1),
                                 message("user", "it's\n\t\xff", 2), message("assistant", "", 3)};
  return Value::dict(
      std::vector<std::pair<std::string, Value>>{{"messages", Value::list(std::move(messages))},
                                                 {"x", Value::string("a b\nc", 4)},
                                                 {"n", Value::integer(-7, 5)},
                                                 {"add_generation_prompt", Value::boolean(true)}});
}

void check(const Text& text) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.runs.size(); ++i) {
    if (text.runs[i].size == 0) std::abort();
    if (i > 0 && text.runs[i].source == text.runs[i - 1].source) std::abort();
    size += text.runs[i].size;
  }
  if (size != text.bytes.size()) std::abort();
}

}  // namespace
}  // namespace verbatim::chat::jinja

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim::chat::jinja;
  static const Value kContext = small_context();
  const auto parsed = Template::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!parsed) return 0;
  RenderOptions options;
  options.max_steps = 100'000;
  options.max_output_bytes = 1 << 20;
  options.max_allocated_bytes = 16 << 20;
  const auto text = (*parsed)->render(kContext, options);
  if (text) check(*text);
  return 0;
}
