#include "sim/testing/toy_tokenizer.h"

#include <cstdlib>

namespace verbatim::sim::testing {

std::shared_ptr<const tokenizer::Tokenizer> toy_tokenizer() {
  static const auto kToy = [] {
    const auto files = base::system_files();
    auto loaded = tokenizer::Tokenizer::load(*files, "tests/cases/toy");
    if (!loaded.ok()) std::abort();
    return std::move(*loaded);
  }();
  return kToy;
}

}  // namespace verbatim::sim::testing
