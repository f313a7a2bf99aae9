// Any bytes are refused with a message, or are a turn that is written as bytes that read back as
// the same.
#include <cstdlib>
#include <string>

#include "store/sqlite/turn_codec.h"

namespace {
void expect(bool holds) {
  if (!holds) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verbatim::store::sqlite;
  const std::string bytes(data, data + size);
  if (const auto turn = decode_turn(bytes)) {
    const auto written = encode(**turn);
    const auto again = decode_turn(written);
    expect(again.ok() && encode(**again) == written);
  } else {
    expect(!turn.error().message.empty());
  }
  if (const auto root = decode_root(bytes)) {
    const auto written = encode(**root);
    expect(**decode_root(written) == **root);
  }
  return 0;
}
