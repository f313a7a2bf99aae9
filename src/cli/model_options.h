#pragma once

#include <memory>
#include <string>

#include "base/files.h"
#include "gateway/model.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace verbatim::cli {

// The options that name a model, shared by the commands that need one.
struct ModelOptions {
  std::string tokenizer_dir;
  std::string chat_template;  // file; empty: from the tokenizer's folder
  std::string policy = "injection_safe";
  std::string cache_dir;
  std::string name;              // empty: the folder's name
  std::uint64_t vocab_size = 0;  // 0: config.json's, else the tokenizer's

  void add_tokenizer(CLI::App& command);
  void add_template(CLI::App& command);
};

base::Result<std::shared_ptr<const tokenizer::Tokenizer>> load_tokenizer(
    base::Files& files, const ModelOptions& options);

// Tokenizer, template, family, parser: everything but what only the engine knows (its context
// length).
base::Result<std::shared_ptr<gateway::Model>> load_model(base::Files& files,
                                                         const ModelOptions& options);

}  // namespace verbatim::cli
