#include "json/stream_scanner.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "json/value.h"

namespace verbatim::json {
namespace {

using Mark = StreamScanner::Mark;

// True when the scanner takes all of `text` as one container or string.
bool takes(std::string_view text) {
  StreamScanner scanner;
  for (const char c : text) {
    if (scanner.feed(c) == Mark::kError) return false;
  }
  return scanner.done();
}

std::string marks(std::string_view text) {
  StreamScanner scanner;
  std::string out;
  for (const char c : text) out += ".BEbe!"[static_cast<int>(scanner.feed(c))];
  return out;
}

TEST(StreamScanner, marks_where_keys_and_values_begin_and_end) {
  EXPECT_EQ(marks(R"({"a": [1, "x"], "b":null})"),  //
            "Bb.e..BB..B.EE..b.e.B...E");
}

TEST(StreamScanner, knows_when_it_is_inside_a_string) {
  StreamScanner scanner;
  for (const char c : std::string_view(R"({"k":"a\)")) scanner.feed(c);
  EXPECT_TRUE(scanner.in_string());
  for (const char c : std::string_view(R"("b")")) scanner.feed(c);
  EXPECT_FALSE(scanner.in_string());
  EXPECT_EQ(scanner.depth(), 1u);
}

TEST(StreamScanner, takes_what_is_json) {
  for (const auto* text : {R"({})", R"([])", R"("")", R"([-0.5e+10,0,10,1E2,true,false,null])",
                           "{\"\\u00e9\\n\":{}}", " \n[ 1 , 2 ]\t", R"({"a":{"b":[{}]}})"}) {
    EXPECT_TRUE(takes(text)) << text;
  }
}

TEST(StreamScanner, refuses_what_is_not) {
  for (
      const auto* text :
      {"{,}",       "[1,]",          "{\"a\"}",  "{\"a\":}", "{a:1}", "[01]",   "[1.]",
       "[.5]",      "[+1]",          "[-]",      "[1e]",     "[tru]", "[nul1]", "[NaN]",
       "[\"\\x\"]", "[\"\\u12g4\"]", "[\"\n\"]", "[}",       "{]",    "[] []",  "{\"a\":1 \"b\":2}",
       "['a']",     "[1 2]"}) {
    EXPECT_FALSE(takes(text)) << text;
  }
}

TEST(StreamScanner, refuses_what_is_nested_too_deep) {
  StreamScanner scanner(3);
  EXPECT_EQ(scanner.feed('['), Mark::kBegin);
  EXPECT_EQ(scanner.feed('['), Mark::kBegin);
  EXPECT_EQ(scanner.feed('['), Mark::kBegin);
  EXPECT_EQ(scanner.feed('['), Mark::kError);
}

TEST(StreamScanner, agrees_with_the_document_parser_on_random_text) {
  const std::uint64_t seed = 20240611;
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  const std::vector<std::string> pieces = {
      "{", "}", "[", "]", ",",  ":",    "\"",   "a",      "\\",    "n",  "u",  "1", "0",
      "-", ".", "e", " ", "\n", "null", "true", "\"k\":", "\"s\"", "12", "{}", "[]"};
  for (int round = 0; round < 200000; ++round) {
    std::string text = random.chance(500) ? "[" : "{";
    const auto length = random.below(12);
    for (std::uint64_t i = 0; i < length; ++i) text += pieces[random.below(pieces.size())];
    text += text.front() == '[' ? "]" : "}";
    EXPECT_EQ(takes(text), Document::parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace verbatim::json
