#include "json/object_reader.h"

#include <gtest/gtest.h>

namespace verbatim::json {
namespace {

struct Read {
  std::optional<std::string> text;
  std::string required;
  std::optional<bool> flag;
  std::optional<std::int64_t> number;
  std::vector<std::string> list;
  std::string inner;
  std::vector<std::string> names;
  int word = 0;
};

Read read(const std::string& text, std::optional<base::Error>& error) {
  const auto document = Document::parse(text).value();
  ObjectReader r(document.root(), "test file", error);
  r.only({"text", "required", "flag", "number", "list", "inner", "many", "word"});
  Read found;
  found.text = r.text("text");
  found.required = r.required("required");
  found.flag = r.boolean("flag");
  found.number = r.integer("number");
  found.list = r.strings("list");
  if (auto inner = r.object("inner")) {
    inner->only({"a"});
    found.inner = inner->required("a");
  }
  for (auto& each : r.objects("many")) found.names.push_back(each.required("name"));
  found.word = r.word<int>("word", {{"one", 1}, {"two", 2}});
  return found;
}

TEST(ObjectReader, reads_what_is_there) {
  std::optional<base::Error> error;
  const auto found = read(R"({"text":"t","required":"r","flag":true,"number":3,"list":["a","b"],
    "inner":{"a":"x"},"many":[{"name":"n1"},{"name":"n2"}],"word":"two"})",
                          error);
  EXPECT_FALSE(error) << error->message;
  EXPECT_EQ(found.text, "t");
  EXPECT_EQ(found.required, "r");
  EXPECT_EQ(found.flag, true);
  EXPECT_EQ(found.number, 3);
  EXPECT_EQ(found.list, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(found.inner, "x");
  EXPECT_EQ(found.names, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(found.word, 2);
}

TEST(ObjectReader, what_may_be_missing_is_no_error) {
  std::optional<base::Error> error;
  const auto found = read(R"({"required":"r","word":"one"})", error);
  EXPECT_FALSE(error);
  EXPECT_FALSE(found.text || found.flag || found.number);
  EXPECT_TRUE(found.list.empty() && found.names.empty());
}

TEST(ObjectReader, the_first_thing_that_is_wrong_is_named_with_its_place) {
  struct Row {
    const char* text;
    const char* field;
    const char* says;
  };
  const std::vector<Row> rows{
      {R"({"required":"r","word":"one","txet":1})", "txet", "unknown key"},
      {R"({"required":"r","word":"one","text":1})", "text", "a string, found a number"},
      {R"({"word":"one"})", "required", "missing"},
      {R"({"required":"","word":"one"})", "required", "missing"},
      {R"({"required":"r","word":"one","flag":"yes"})", "flag", "true or false, found a string"},
      {R"({"required":"r","word":"one","number":1.5})", "number", "an integer"},
      {R"({"required":"r","word":"one","list":"a"})", "list", "a list"},
      {R"({"required":"r","word":"one","list":[1]})", "list", "strings, found a number"},
      {R"({"required":"r","word":"one","inner":[]})", "inner", "an object"},
      {R"({"required":"r","word":"one","inner":{"b":1}})", "inner.b", "unknown key"},
      {R"({"required":"r","word":"one","many":[{"name":"x"},{}]})", "many[1].name", "missing"},
      {R"({"required":"r","word":"one","many":[1]})", "many", "objects"},
      {R"({"required":"r","word":"three"})", "word", "unknown word \"three\""},
  };
  for (const auto& row : rows) {
    std::optional<base::Error> error;
    (void)read(row.text, error);
    ASSERT_TRUE(error) << row.text;
    EXPECT_EQ(error->field, row.field) << row.text;
    EXPECT_NE(error->message.find(row.says), std::string::npos) << error->message;
    EXPECT_EQ(error->message.rfind("test file, " + std::string(row.field) + ": ", 0), 0U)
        << error->message;
  }
}

}  // namespace
}  // namespace verbatim::json
