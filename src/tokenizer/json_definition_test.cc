#include "tokenizer/json_definition.h"

#include <gtest/gtest.h>

#include "tokenizer/testing/toy.h"

namespace verbatim::tokenizer {
namespace {

using base::ErrorKind;
using testing::load_text;
using testing::ToyFile;

base::Error error_of(const ToyFile& file) {
  const auto loaded = load_text(file.json());
  return loaded.ok() ? base::error(ErrorKind::kInternal, "it was loaded") : loaded.error();
}

void expect_error(const ToyFile& file, ErrorKind kind, std::string_view part) {
  const base::Error error = error_of(file);
  EXPECT_EQ(error.kind, kind) << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message << " lacks " << part;
}

TEST(JsonDefinition, what_is_not_supported_is_named) {
  expect_error({.normalizer = R"({"type":"NFKC"})"}, ErrorKind::kUnsupported,
               "normalizer.type NFKC");
  expect_error(
      {.normalizer = R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Lowercase"}]})"},
      ErrorKind::kUnsupported, "normalizer.type Lowercase");
  expect_error({.pre_tokenizer = "null"}, ErrorKind::kUnsupported, "pre_tokenizer null");
  expect_error({.pre_tokenizer = R"({"type":"Metaspace"})"}, ErrorKind::kUnsupported,
               "pre_tokenizer.type Metaspace");
  expect_error({.pre_tokenizer = R"({"type":"ByteLevel"})"}, ErrorKind::kUnsupported,
               "add_prefix_space");
  expect_error(
      {.pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":false})"},
      ErrorKind::kUnsupported, "without a pattern");
  expect_error({.pre_tokenizer = R"({"type":"Sequence","pre)"
                                 R"(tokenizers":[{"type":"Split","pattern":{"Regex":"x+"},)"
                                 R"("behavior":"Isolated","invert":false}]})"},
               ErrorKind::kUnsupported, "Split.pattern x+");
  expect_error({.decoder = "null"}, ErrorKind::kUnsupported, "decoder null");
  expect_error({.decoder = R"({"type":"WordPiece"})"}, ErrorKind::kUnsupported,
               "decoder.type WordPiece");
  expect_error({.model_fields = R"(,"dropout":0.1)"}, ErrorKind::kUnsupported, "model.dropout");
  expect_error({.model_fields = R"(,"end_of_word_suffix":"</w>")"}, ErrorKind::kUnsupported,
               "model.end_of_word_suffix");
}

TEST(JsonDefinition, nested_sequences_of_the_known_parts_are_fine) {
  EXPECT_NE(
      testing::toy({.normalizer =
                        R"({"type":"Sequence","normalizers":[{"type":"Sequence","normalizers":[]},)"
                        R"({"type":"NFC"}]})"}),
      nullptr);
}

TEST(JsonDefinition, malformed_parts_are_named) {
  expect_error({.merges = R"(["l"])"}, ErrorKind::kInvalidRequest, "model.merges");
  expect_error({.merges = R"([["l"]])"}, ErrorKind::kInvalidRequest, "model.merges");
  expect_error({.merges = R"([["l","l","l"]])"}, ErrorKind::kInvalidRequest, "model.merges");
  expect_error({.merges = R"([["q","q"]])"}, ErrorKind::kInvalidRequest, "model.merges[0]");
  expect_error({.merges = R"([["","l"]])"}, ErrorKind::kInvalidRequest, "model.merges[0]");
  expect_error({.merges = R"({})"}, ErrorKind::kInvalidRequest, "model.merges");
  expect_error({.more_vocab = R"(,"zz":"260")"}, ErrorKind::kInvalidRequest, "model.vocab");
  expect_error({.more_vocab = R"(,"zz":-1)"}, ErrorKind::kInvalidRequest, "model.vocab");
  expect_error({.more_vocab = R"(,"zz":4194303)"}, ErrorKind::kInvalidRequest, "4194303");
  expect_error({.more_vocab = R"(,"zz":99999999999999999999)"}, ErrorKind::kInvalidRequest,
               "model.vocab");
  expect_error({.more_vocab = R"(,"zz":259)"}, ErrorKind::kInvalidRequest, "259 is there twice");
  expect_error({.more_vocab = R"(,"ll":260)"}, ErrorKind::kInvalidRequest, "the same token");
  expect_error({.more_vocab = R"(,"":260)"}, ErrorKind::kInvalidRequest, "260 is empty");
  expect_error({.more_vocab = R"(,"\ud800":260)"}, ErrorKind::kInvalidRequest, "model.vocab");
  expect_error({.more_fields = R"(,"decoder":null)"}, ErrorKind::kInvalidRequest,
               "\"decoder\" is there twice");
  expect_error({.more_fields = "}{"}, ErrorKind::kInvalidRequest, "(root)");
  expect_error({.added_tokens = "{}"}, ErrorKind::kInvalidRequest, "added_tokens");
  expect_error({.added_tokens = R"([{"content":"x"}])"}, ErrorKind::kInvalidRequest,
               "added_tokens[0].id");
  expect_error({.added_tokens = R"([{"id":260}])"}, ErrorKind::kInvalidRequest,
               "added_tokens[0].content");
  expect_error({.added_tokens = R"([{"id":260,"content":"<a>","lstrip":1}])"},
               ErrorKind::kInvalidRequest, "added_tokens[0].lstrip");
}

TEST(JsonDefinition, an_added_token_has_the_id_that_hugging_face_would_give_it) {
  const auto tokens = [](std::string text) {
    return ToyFile{.added_tokens = "[" + std::move(text) + "]"};
  };
  EXPECT_TRUE(
      load_text(
          tokens(
              R"({"id":260,"content":"<a>"},{"id":258,"content":"hell"},{"id":261,"content":"<b>"})")
              .json())
          .ok());
  expect_error(tokens(R"({"id":261,"content":"<a>"})"), ErrorKind::kInvalidRequest,
               "added_tokens[0].id");
  expect_error(tokens(R"({"id":260,"content":"hell"})"), ErrorKind::kInvalidRequest,
               "added_tokens[0].id");
  expect_error(tokens(R"({"id":260,"content":"<a>"},{"id":261,"content":"<a>"})"),
               ErrorKind::kInvalidRequest, "added_tokens[1].content");
}

TEST(JsonDefinition, an_added_token_can_t_take_the_id_of_another_token) {
  // 260 entries, but one of them has the id that comes next.
  expect_error({.added_tokens = R"([{"id":261,"content":"<a>"}])", .more_vocab = R"(,"zz":261)"},
               ErrorKind::kInvalidRequest, "belongs to another token");
}

TEST(JsonDefinition, every_byte_needs_a_token) {
  std::string json = ToyFile{}.json();
  json.replace(json.find("\"A\":65,"), 7, "");
  const auto loaded = load_text(json);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("byte 65"), std::string::npos) << loaded.error().message;
}

TEST(JsonDefinition, truncated_files_are_errors) {
  const std::string json = ToyFile{}.json();
  for (std::size_t size = 0; size < json.size(); size += size < 200 ? 1 : 37) {
    EXPECT_FALSE(load_text(json.substr(0, size)).ok()) << size;
  }
}

TEST(JsonDefinition, a_missing_file_is_not_found) {
  const auto files = base::system_files();
  const auto loaded = Tokenizer::load(*files, "tests/cases/no-such-model");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kNotFound);
}

TEST(JsonDefinition, tokens_outside_the_byte_alphabet_decode_to_their_text_and_are_never_encoded) {
  const auto tokenizer = testing::toy({.more_vocab = R"(,"中文":260)"});
  EXPECT_EQ(tokenizer->decode(std::vector<TokenId>{260}), "中文");
  EXPECT_EQ(testing::encoded(*tokenizer, "中文").size(), 6U);
}

}  // namespace
}  // namespace verbatim::tokenizer
