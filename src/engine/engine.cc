#include "engine/engine.h"

namespace verbatim::engine {
namespace {

base::Error only_ids() {
  return base::error(base::ErrorKind::kUnsupported,
                     "this engine is driven by token ids, not by messages");
}

}  // namespace

base::Status Engine::check_messages(const protocol::Conversation& /*asked*/) const {
  return only_ids();
}

base::Task<base::Result<std::unique_ptr<TokenStream>>> Engine::complete(
    MessageRequest /*request*/) {
  co_return only_ids();
}

}  // namespace verbatim::engine
