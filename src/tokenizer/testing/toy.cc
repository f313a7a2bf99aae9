#include "tokenizer/testing/toy.h"

#include <cstdio>

#include "base/sim/sim_files.h"
#include "base/utf8.h"

namespace verbatim::tokenizer::testing {
namespace {

// The alphabet of byte-level vocabularies, byte by byte.
std::string written(unsigned byte) {
  static constexpr auto itself = [](unsigned b) {
    return (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
  };
  char32_t next = 0x100;
  for (unsigned b = 0; b < byte; ++b) next += itself(b) ? 0 : 1;
  std::string out;
  base::append_utf8(out, itself(byte) ? byte : next);
  if (out == "\"" || out == "\\") out.insert(0, "\\");
  return out;
}

}  // namespace

std::string ToyFile::json() const {
  std::string vocab;
  for (unsigned byte = 0; byte < 256; ++byte)
    vocab += "\"" + written(byte) + "\":" + std::to_string(byte) + ",";
  vocab += R"("ll":256,"he":257,"hell":258,"hello":259)" + more_vocab;
  return R"({"version":"1.0","normalizer":)" + normalizer + R"(,"pre_tokenizer":)" + pre_tokenizer +
         R"(,"decoder":)" + decoder + R"(,"added_tokens":)" + added_tokens +
         R"(,"model":{"type":"BPE","vocab":{)" + vocab + R"(},"merges":)" + merges + model_fields +
         "}" + more_fields + "}";
}

base::Result<std::shared_ptr<const Tokenizer>> load_text(const std::string& json) {
  base::sim::SimFiles files(1);
  static_cast<void>(files.make_directories("model"));
  static_cast<void>(files.replace("model/tokenizer.json", json));
  return Tokenizer::load(files, "model");
}

std::shared_ptr<const Tokenizer> toy(const ToyFile& file) {
  auto tokenizer = load_text(file.json());
  if (!tokenizer) std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
  return *std::move(tokenizer);
}

std::shared_ptr<const Tokenizer> chat_toy() {
  const auto files = base::system_files();
  return Tokenizer::load(*files, "tests/cases/toy").value();
}

TokenIds encoded(const Tokenizer& tokenizer, std::string_view text, const CallerText& caller) {
  TokenIds ids;
  tokenizer.encode(text, caller, ids, nullptr);
  return ids;
}

}  // namespace verbatim::tokenizer::testing
