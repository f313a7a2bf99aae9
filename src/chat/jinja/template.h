#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "chat/jinja/render_options.h"
#include "chat/jinja/text.h"
#include "chat/jinja/value.h"

namespace verbatim::chat::jinja {

struct Program;

// A chat template, as models bring one along (chat_template.jinja, or the field chat_template of
// tokenizer_config.json). It renders what transformers 5 renders with Jinja2 3.1: the immutable
// sandbox with trim_blocks and lstrip_blocks, loop controls, the `generation` tag, its own tojson,
// and the functions raise_exception and strftime_now.
//
// Life: parsed once per model. Immutable; any number of threads may render at the same time.
class Template {
 public:
  // Errors (kInvalidRequest) name the line of the template.
  static base::Result<std::shared_ptr<const Template>> parse(std::string source);

  // `context`: a dict of the template's variables (messages, tools, add_generation_prompt,
  // bos_token ...). Variables of the host hide the functions of the same name. Errors:
  // kInvalidRequest with the template's own message where it calls raise_exception, or with the
  // line and Python's words where a value is misused; kUnsupported for what Jinja2 can do and this
  // engine can't; kTooLarge beyond a limit.
  [[nodiscard]] base::Result<Text> render(const Value& context,
                                          const RenderOptions& options = {}) const;

  [[nodiscard]] const std::string& source() const;

  explicit Template(std::unique_ptr<const Program> program);
  ~Template();

 private:
  std::unique_ptr<const Program> program_;
};

}  // namespace verbatim::chat::jinja
