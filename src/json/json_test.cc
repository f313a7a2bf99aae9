#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "json/dumps.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::json {
namespace {

Document parse(std::string text) {
  auto doc = Document::parse(text);
  EXPECT_TRUE(doc.ok()) << text << ": " << (doc.ok() ? "" : doc.error().message);
  return std::move(*doc);
}

std::string failure(std::string text, ParseLimits limits = {}) {
  auto doc = Document::parse(std::move(text), limits);
  return doc.ok() ? "" : doc.error().message;
}

TEST(Document, keeps_numbers_as_they_are_written) {
  for (const char* number : {"0.3", "0.30", "1E5", "-0", "-0.0", "18446744073709551616", "1e400",
                             "0.1000000000000000055511151231257827"}) {
    EXPECT_EQ(parse(std::string("[") + number + "]").root().raw(), std::string("[") + number + "]");
    auto doc = parse(number);
    EXPECT_EQ(doc.root().raw(), number);
  }
}

TEST(Document, reads_an_integer_only_where_it_is_one) {
  EXPECT_EQ(parse("12").root().integer(), 12);
  EXPECT_EQ(parse("1.0").root().integer(), 1);
  EXPECT_EQ(parse("1e2").root().integer(), 100);
  EXPECT_EQ(parse("-9223372036854775808").root().integer(), INT64_MIN);
  EXPECT_EQ(parse("9223372036854775808").root().integer(), std::nullopt);
  EXPECT_EQ(parse("1.5").root().integer(), std::nullopt);
  EXPECT_EQ(parse("1e400").root().integer(), std::nullopt);
  EXPECT_EQ(parse("1e400").root().number(), std::nullopt);
  EXPECT_EQ(parse("1e-400").root().number(), 0.0);
}

TEST(Document, tells_overflow_from_underflow_by_the_value) {
  const std::string zeros(400, '0');
  for (const auto& tiny : {"1e-400", "0.1e-400", "12345e-999", "1e-99999999999999999999"}) {
    EXPECT_EQ(parse(tiny).root().number(), 0.0) << tiny;
    EXPECT_TRUE(std::signbit(*parse(std::string("-") + tiny).root().number())) << tiny;
  }
  EXPECT_EQ(parse("0." + zeros + "1").root().number(), 0.0);
  EXPECT_EQ(parse("0." + zeros + "1e5").root().number(), 0.0);
  EXPECT_EQ(parse("0." + zeros + "1e400").root().number(), 0.1);
  for (const auto& huge : {"1e400", "-1e400", "1e99999999999999999999"})
    EXPECT_EQ(parse(huge).root().number(), std::nullopt) << huge;
  EXPECT_EQ(parse("1" + zeros).root().number(), std::nullopt);
  EXPECT_EQ(parse("1" + zeros + "e-5").root().number(), std::nullopt);
  EXPECT_EQ(parse("1" + zeros + "e-400").root().number(), 1.0);
}

TEST(Document, keeps_order_duplicates_and_unknown_members) {
  auto doc = parse(R"({"b":1, "a":2,"b" : 3})");
  std::string names;
  for (const auto member : doc.root()) names += member.name();
  EXPECT_EQ(names, "bab");
  EXPECT_EQ(doc.root().find("b")->integer(), 3) << "the last of equal names counts";
  EXPECT_EQ(doc.root().find("c"), std::nullopt);
}

TEST(Document, finds_null_members_but_does_not_get_them) {
  auto doc = parse(R"({"a":null})");
  EXPECT_TRUE(doc.root().find("a")->is_null());
  EXPECT_FALSE(doc.root().get("a").has_value());
}

TEST(Document, unescapes_strings_and_names) {
  auto doc = parse(R"({"\u0061":"x\n\"\\\/\u00e9\ud83d\ude00"})");
  EXPECT_EQ(doc.root().find("a")->string(), "x\n\"\\/\u00e9\U0001F600");
}

TEST(Document, reads_a_lone_surrogate_as_the_replacement_character) {
  EXPECT_EQ(parse(R"("a\ud800b")").root().string(),
            "a\ufffd"
            "b");
  EXPECT_EQ(parse(R"("\udc00\ud800")").root().string(), "\ufffd\ufffd");
  EXPECT_EQ(parse(R"("\ud800\ud83d\ude00")").root().string(), "\ufffd\U0001F600");
}

TEST(Document, names_line_and_column_of_malformed_text) {
  EXPECT_EQ(failure("{\n  \"a\" 1}"), "invalid JSON at line 2, column 7: expected ':', found '1'");
  EXPECT_EQ(failure(""), "invalid JSON at line 1, column 1: expected a value, the text ends here");
  EXPECT_EQ(failure("[1,]"),
            "invalid JSON at line 1, column 4: expected a value behind the comma, found ']'");
}

TEST(Document, refuses_what_rfc_8259_refuses) {
  for (const char* text : {"{",
                           "}",
                           "[1 2]",
                           "{\"a\":}",
                           "{a:1}",
                           "{'a':1}",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "1e",
                           "-",
                           "NaN",
                           "Infinity",
                           "tru",
                           "\"\t\"",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12g4\"",
                           "1 2",
                           "[1]]",
                           "{\"a\":1,}",
                           "\xef\xbb\xbf{}",
                           "/**/1",
                           "[,1]",
                           "{\"a\":1 \"b\":2}",
                           "nullx"}) {
    EXPECT_NE(failure(text), "") << text;
  }
}

TEST(Document, refuses_bad_utf8_and_says_where) {
  EXPECT_EQ(failure("\"ab\xff\""), "invalid JSON at line 1, column 4: not UTF-8");
  EXPECT_EQ(failure("\"\xc3\xa9\xed\xa0\x80\""), "invalid JSON at line 1, column 4: not UTF-8");
  EXPECT_NE(failure("\"\xf4\x90\x80\x80\""), "");
}

TEST(Document, bounds_depth_and_size) {
  ParseLimits limits;
  limits.max_depth = 3;
  EXPECT_EQ(failure("[[[1]]]", limits), "");
  EXPECT_NE(failure("[[[[1]]]]", limits).find("nested deeper than 3"), std::string::npos);
  EXPECT_EQ(Document::parse("[[[[1]]]]", limits).error().kind, base::ErrorKind::kInvalidRequest)
      << "the text is not too large, it is one that is not read";
  limits.max_bytes = 4;
  EXPECT_NE(failure("[1,2]", limits), "");
  EXPECT_NE(failure(std::string(1000000, '[')), "");
}

TEST(Document, walks_nested_containers) {
  auto doc = parse(R"([[],{},[1,[2]],{"a":{"b":[3]}}])");
  ASSERT_EQ(doc.root().size(), 4U);
  std::string kinds;
  for (const auto member : doc.root()) kinds += describe(member.value.kind()).substr(3);
  EXPECT_EQ(kinds, "arrayobjectarrayobject");
  auto it = doc.root().begin();
  ++ ++ ++it;
  EXPECT_EQ((*it).value.find("a")->find("b")->raw(), "[3]");
}

TEST(Document, moved_documents_keep_their_values) {
  auto doc = parse(R"({"a":[1,"x"]})");
  const Value a = *doc.root().find("a");
  const Document moved = std::move(doc);
  EXPECT_EQ(a.raw(), R"([1,"x"])");
}

std::string python(const char* text, DumpOptions options = {}) {
  return dumps(parse(text).root(), options);
}

TEST(Dumps, prints_numbers_as_python_does) {
  EXPECT_EQ(
      python(
          "[1.50,1E5,1e22,1e-7,-0,-0.0,123456789012345678901234567890,0.1,1e16,1e15,1e400,5e-324]"),
      "[1.5, 100000.0, 1e+22, 1e-07, 0, -0.0, 123456789012345678901234567890, 0.1, 1e+16, "
      "1000000000000000.0, Infinity, 5e-324]");
}

TEST(Dumps, prints_strings_as_python_does) {
  EXPECT_EQ(python(R"("\u00e9\/\u007f\u2028<&'")"), "\"\u00e9/\x7f\u2028<&'\"");
  DumpOptions ascii;
  ascii.ensure_ascii = true;
  EXPECT_EQ(python(R"("é😀\u0001\u007f")", ascii), R"("\u00e9\ud83d\ude00\u0001\u007f")");
}

TEST(Dumps, keeps_the_last_of_equal_keys_at_the_first_place) {
  EXPECT_EQ(python(R"({"a":1,"b":2,"a":3})"), R"({"a": 3, "b": 2})");
}

TEST(Dumps, indents_and_sorts) {
  DumpOptions options;
  options.indent = 2;
  options.item_separator = ",";
  options.sort_keys = true;
  EXPECT_EQ(python(R"({"b":[1,{}],"a":[]})", options),
            "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {}\n  ]\n}");
}

TEST(Writer, puts_commas_and_colons) {
  Writer w;
  w.begin_object()
      .field("a", "x\n")
      .key("b")
      .begin_array()
      .integer(1)
      .null()
      .boolean(true)
      .end_array()
      .key("c")
      .raw("1E5")
      .end_object();
  EXPECT_EQ(w.text(), R"({"a":"x\n","b":[1,null,true],"c":1E5})");
}

}  // namespace
}  // namespace verbatim::json
