// Any output, cut in any way, gives the same answer and breaks no rule. The first byte chooses
// grammar and start; bytes 1 to 31 that are no white space stand for tags, so that the fuzzer finds
// them easily.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "chat/parsers/testing/pieces.h"

namespace {

using namespace verbatim::chat::parsers;  // NOLINT(google-build-using-namespace)

// Bytes over 127 become two-byte characters: the parser is fed whole characters only.
testing::Pieces pieces_of(const Grammar& grammar, const std::uint8_t* data, std::size_t size) {
  testing::Pieces out;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t byte = data[i];
    if (byte > 0 && byte < 9) {
      out.push_back({static_cast<MarkerIndex>(byte % grammar.markers.size()), {}});
      continue;
    }
    if (out.empty() || out.back().tag) out.push_back({});
    if (byte < 0x80) {
      out.back().text += static_cast<char>(byte);
    } else {
      out.back().text += static_cast<char>(0xC0 | (byte >> 6));
      out.back().text += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t flags = data[0];
  const auto all = grammars();
  const Grammar& grammar = all[(flags >> 4) % all.size()];
  const TurnStart start{.reasoning_open = (flags & 1) != 0, .tools = (flags & 2) == 0};
  const auto ending = static_cast<Ending>((flags >> 2) % 3);
  const auto pieces = pieces_of(grammar, data + 1, size - 1);

  const auto whole = testing::parse(grammar, start, pieces, ending, [] { return ~std::size_t{0}; });
  const auto single = testing::parse(grammar, start, pieces, ending, [] { return std::size_t{1}; });
  std::size_t step = flags;
  const auto some = testing::parse(grammar, start, pieces, ending,
                                   [&step] { return 1 + (step = step * 7 + 3) % 11; });
  for (const auto* other : {&single, &some}) {
    if (other->folded != whole.folded || other->finish != whole.finish) std::abort();
    if (!testing::broken_rule(*other).empty()) std::abort();
  }
  if (!testing::broken_rule(whole).empty()) std::abort();

  const std::string output = testing::spelled(grammar, pieces);
  const auto tokens = testing::parse(grammar, start, testing::split(grammar, output), ending,
                                     [] { return ~std::size_t{0}; });
  const auto text =
      testing::parse_text(grammar, start, output, ending, [] { return std::size_t{3}; });
  if (text.folded != tokens.folded || text.finish != tokens.finish) std::abort();
  return 0;
}
