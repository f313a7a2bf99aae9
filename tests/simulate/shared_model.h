#pragma once

#include <memory>
#include <string>

#include "gateway/model.h"

namespace verbatim::simulate {

// The parts of the toy model that take time to make: shared by the worlds of all seeds.
struct SharedModel {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::shared_ptr<const gateway::Model> made;
  tokenizer::TokenId first_control = 0;  // ids from here on are control tokens
};

base::Result<SharedModel> load_shared_model(const std::string& toy_dir);

}  // namespace verbatim::simulate
