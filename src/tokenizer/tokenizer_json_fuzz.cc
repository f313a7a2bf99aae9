// Any bytes are a tokenizer.json: refused, or a tokenizer that encodes and decodes. Bytes behind a
// NUL are the text to encode.
#include <cstdint>
#include <cstdlib>

#include "base/sim/sim_files.h"
#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace {

using namespace verbatim::tokenizer;

void expect(bool holds) {
  if (!holds) std::abort();
}

void use(const Tokenizer& tokenizer, std::string_view text) {
  TokenIds ids;
  std::vector<std::uint32_t> begins;
  tokenizer.encode(text, {}, ids, &begins);
  expect(ids.size() == begins.size());
  for (std::size_t i = 0; i < begins.size(); ++i)
    expect(begins[i] <= text.size() && (i == 0 || begins[i - 1] <= begins[i]));
  IncrementalDecoder decoder(tokenizer);
  std::string out;
  for (const TokenId id : ids) decoder.feed(id, out);
  decoder.finish(out);
  expect(out == tokenizer.decode(ids));

  // What a caller says becomes no added token.
  const std::vector<ByteRange> all{{0, text.size()}};
  ids.clear();
  tokenizer.encode(text, all, ids, nullptr);
  for (const AddedToken& token : tokenizer.added_tokens()) {
    const TokenId id[] = {token.id};
    if (!tokenizer.control_tokens(id).ok()) continue;  // ordinary text becomes it
    for (const TokenId said : ids) expect(said != token.id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = input.find('\0');
  std::string text;
  if (cut != std::string_view::npos) verbatim::base::append_lossy(input.substr(cut + 1), text);

  verbatim::base::sim::SimFiles files(1);
  static_cast<void>(files.make_directories("model"));
  static_cast<void>(files.replace("model/tokenizer.json", input.substr(0, cut)));
  const auto plain = Tokenizer::load(files, "model");
  const auto written = Tokenizer::load(files, "model", {.cache_dir = "cache"});
  const auto cached = Tokenizer::load(files, "model", {.cache_dir = "cache"});
  expect(plain.ok() == written.ok() && plain.ok() == cached.ok());
  if (!plain.ok()) {
    expect(!plain.error().message.empty());
    return 0;
  }
  use(**plain, text);
  TokenIds one;
  TokenIds other;
  (*plain)->encode(text, one);
  (*cached)->encode(text, other);
  expect(one == other);
  return 0;
}
