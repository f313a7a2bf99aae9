#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "cassette/yaml_node.h"
#include "cassette/yaml_writer.h"
#include "json/value.h"
#include "json/writer.h"

namespace verbatim::cassette {
namespace {

std::string json_of(const std::string& yaml) {
  const auto read = read_yaml(yaml);
  std::vector<Problem> problems = read.problems;
  std::string out;
  if (problems.empty()) append_json(out, read.root, problems);
  return problems.empty() ? out
                          : "line " + std::to_string(problems[0].line) + ": " + problems[0].message;
}

std::string written(const std::string& json) {
  const auto document = json::Document::parse(json);
  EXPECT_TRUE(document.ok()) << json;
  YamlWriter yaml;
  yaml.value(document->root());
  auto text = yaml.take();
  return text ? *text : "error: " + text.error().message;
}

TEST(Yaml, scalars_without_quotes_are_what_json_says) {
  EXPECT_EQ(json_of("[null, ~, true, False, 1, -0.30, 1E5, word, 'true', \"1\", a b]\n"),
            R"([null,null,true,false,1,-0.30,1E5,"word","true","1","a b"])");
  EXPECT_EQ(json_of("a:\nb: {}\nc: []\n"), R"({"a":null,"b":{},"c":[]})");
}

TEST(Yaml, numbers_keep_their_spelling) {
  for (const std::string number :
       {"0", "-0", "0.10", "1e400", "123456789012345678901234567890", "1E+05", "2.0"}) {
    EXPECT_EQ(json_of(written("{\"n\":" + number + "}")), "{\"n\":" + number + "}");
  }
}

TEST(Yaml, numbers_of_yaml_that_json_has_not_are_refused_with_their_line) {
  for (const std::string number : {".inf", "-.INF", ".nan", "0x1F", "0b11", "0o17", "1_000", "+1",
                                   ".5", "1.", "017", "190:20:30"}) {
    EXPECT_EQ(json_of("a: 1\nb: " + number + "\n").substr(0, 14 + number.size()),
              "line 2: found " + number);
  }
}

TEST(Yaml, words_that_only_look_like_numbers_are_strings) {
  for (const std::string word : {"1abc", "v1.2", "2b-or", "0xyz", "..", "-", "a:1"})
    EXPECT_EQ(json_of("a: " + (word == "-" ? "'-'" : word) + "\n"), "{\"a\":\"" + word + "\"}");
}

TEST(Yaml, what_is_not_read_is_an_error_with_its_line) {
  const std::pair<const char*, const char*> kCases[] = {
      {"a: &x 1\n", "line 1: found an anchor (&): write out what it stands for"},
      {"a: [1]\nb: &x [1]\n", "line 2: found an anchor (&): write out what it stands for"},
      {"a: 1\nb: *x\n", "line 2: found an alias: write out what it stands for"},
      {"a: !!str 1\n", "line 1: found a tag (!): cassettes have none"},
      {"a: 1\n---\nb: 1\n", "line 2: found a second document: one file is one cassette"},
      {"", "line 0: the file is empty"},
      {"a: 1\nb: 2\na: 3\n", "line 3: key \"a\" stands there twice"},
      {"? [a]\n: 1\n", "line 1: a key must be a string, found a list"},
      {"a: [1\nb: 2\n", "line 2: no YAML: did not find expected ',' or ']'"},
      {"a: \"\xff\"\n", "line 1: no YAML: invalid leading UTF-8 octet"},
  };
  for (const auto& [yaml, expected] : kCases) EXPECT_EQ(json_of(yaml), expected) << yaml;
}

TEST(Yaml, depth_is_bounded) {
  EXPECT_EQ(json_of(std::string(250, '[') + std::string(250, ']')),
            std::string(250, '[') + std::string(250, ']'));
  EXPECT_NE(json_of(std::string(300, '[') + std::string(300, ']')).find("more than 256 levels"),
            std::string::npos);
}

TEST(Yaml, a_line_of_a_stream_is_written_as_a_block_that_people_can_read) {
  EXPECT_EQ(written(R"(["data: {\"a\": \"b\"}\n"])"), "- |\n  data: {\"a\": \"b\"}\n");
}

// Strings out of what breaks writers of YAML.
std::string random_text(base::Random& random) {
  static const std::string kPieces[] = {"a",
                                        "true",
                                        " ",
                                        "\n",
                                        "\r",
                                        "\t",
                                        ":",
                                        "- ",
                                        "#",
                                        "'",
                                        "\"",
                                        "\\",
                                        "{",
                                        "]",
                                        "&x",
                                        "*x",
                                        "!",
                                        "|",
                                        ">",
                                        "%",
                                        "@",
                                        "0",
                                        "1e5",
                                        "~",
                                        "é",
                                        "\x01",
                                        "\x7f",
                                        "---",
                                        "\xC2\x85",
                                        "\xE2\x80\xA8",
                                        "\xEF\xBB\xBF",
                                        "\xF0\x9F\x98\x80",
                                        "? ",
                                        "=",
                                        "<<",
                                        "null",
                                        "2026-12-01",
                                        "\xEF\xBF\xBF",
                                        "...",
                                        "\xC2\xA0"};
  std::string out;
  for (auto left = random.below(6); left > 0; --left)
    out += kPieces[random.below(std::size(kPieces))];
  return out;
}

void random_value(base::Random& random, unsigned depth, std::string& out) {
  switch (depth == 0 ? random.below(4) : random.below(6)) {
    case 0:
      out += "null";
      return;
    case 1:
      out += random.chance(500) ? "true" : "-1.50e-3";
      return;
    case 2:
    case 3:
      return json::append_string(out, random_text(random));
    case 4:
      out += '[';
      for (auto left = random.below(4); left > 0; --left) {
        random_value(random, depth - 1, out);
        if (left > 1) out += ',';
      }
      out += ']';
      return;
    default:
      out += '{';
      for (auto left = random.below(4); left > 0; --left) {
        json::append_string(out, std::to_string(left) + random_text(random));
        out += ':';
        random_value(random, depth - 1, out);
        if (left > 1) out += ',';
      }
      out += '}';
  }
}

TEST(Yaml, any_json_comes_back_as_it_was) {
  base::SeededRandom random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string json;
    random_value(random, 4, json);
    const std::string yaml = written(json);
    ASSERT_EQ(json_of(yaml), json) << yaml;
  }
}

TEST(Yaml, a_string_of_nul_bytes_comes_back) {
  std::string json;
  json::append_string(json, std::string("a\0b", 3));
  EXPECT_EQ(json_of(written(json)), json);
}

}  // namespace
}  // namespace verbatim::cassette
