#include "chat/jinja/template.h"

#include <utility>

#include "chat/jinja/interpreter.h"
#include "chat/jinja/parser.h"

namespace verbatim::chat::jinja {

Template::Template(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Template::~Template() = default;

base::Result<std::shared_ptr<const Template>> Template::parse(std::string source) {
  auto program = parse_template(std::move(source));
  if (!program) return std::move(program).error();
  return std::shared_ptr<const Template>(std::make_shared<Template>(std::move(*program)));
}

base::Result<Text> Template::render(const Value& context, const RenderOptions& options) const {
  return Interpreter(*program_, context, options).run();
}

const std::string& Template::source() const {
  return program_->source;
}

}  // namespace verbatim::chat::jinja
