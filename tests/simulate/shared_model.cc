#include "simulate/shared_model.h"

#include "cli/model_options.h"

namespace verbatim::simulate {

base::Result<SharedModel> load_shared_model(const std::string& toy_dir) {
  const auto files = base::system_files();
  cli::ModelOptions options;
  options.tokenizer_dir = toy_dir;
  options.chat_template = toy_dir + "/chatml.jinja";
  options.name = "toy";
  auto model = cli::load_model(*files, options);
  if (!model) return std::move(model).error();
  auto tokenizer = cli::load_tokenizer(*files, options);
  if (!tokenizer) return std::move(tokenizer).error();
  SharedModel shared;
  shared.tokenizer = std::move(*tokenizer);
  shared.made = std::move(*model);
  shared.first_control = shared.tokenizer->added("<|endoftext|>")->id;
  return shared;
}

}  // namespace verbatim::simulate
