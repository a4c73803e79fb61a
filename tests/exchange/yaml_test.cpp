#include "exchange/yaml.h"

#include <catch_amalgamated.hpp>

#include "tensor/check.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Options of Marian are read") {
  const Yaml yaml = parse_yaml(
      "# a comment\n---\ntype: transformer  # and one\nempty: \"\"\nnothing:\nlist:\n  - 1\n  - \"two 2\"\n"
      "- three\nnone:\n  []\nbrackets: [a, 'b, c', \"d\"]\r\nurl: http://a:80/b\n'it''s': 'o''clock'\n",
      "a.yml");
  CHECK(yaml == Yaml{{"type", {"transformer"}},
                     {"empty", {""}},
                     {"nothing", {}},
                     {"list", {"1", "two 2", "three"}},
                     {"none", {}},
                     {"brackets", {"a", "b, c", "d"}},
                     {"url", {"http://a:80/b"}},
                     {"it's", {"o'clock"}}});
}

TEST_CASE("Vocabularies of Marian are read") {
  const Yaml yaml = parse_yaml(
      "</s>: 0\n\"<unk>\": 1\n\u2581de: 2\n\"\\\"\": 3\n\"\\\\\": 4\n\"\\x41\\u2581\\U0001F600\": 5\n\",\": "
      "6\n"
      "a:b: 7\n\"#\": 8\n",
      "v.yml");
  CHECK(yaml == Yaml{{"</s>", {"0"}},
                     {"<unk>", {"1"}},
                     {"\u2581de", {"2"}},
                     {"\"", {"3"}},
                     {"\\", {"4"}},
                     {"A\u2581\U0001F600", {"5"}},
                     {",", {"6"}},
                     {"a:b", {"7"}},
                     {"#", {"8"}}});
}

TEST_CASE("YAML that Marian does not write is refused by its line") {
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"a: 1\na: 2\n", "[yaml] line 2 of a.yml has the key 'a' again"},
      {"a: &b 1\n", "line 1 of a.yml has YAML that Marian does not write: &b 1"},
      {"a: *b\n", "line 1"},
      {"a: !!python/object b\n", "line 1"},
      {"a: |\n  text\n", "line 1"},
      {"a: {b: c}\n", "line 1"},
      {"a:\n  b: c\n", "line 2 of a.yml is indented, which only lists are"},
      {"- a\n", "line 1 of a.yml is of a list without a key"},
      {"? a\n: b\n", "line 1"},
      {"a\n", "line 1 of a.yml has no key"},
      {"a: \"b\n", "line 1 of a.yml has a quote without an end"},
      {"a: \"b\\\n", "line 1 of a.yml has an escape in quotes that is none"},
      {"a: 'b\n", "line 1 of a.yml has a quote without an end"},
      {"a: \"\\q\"\n", "has an escape in quotes that is none: \\q"},
      {"a: \"\\u12\"\n", "has an escape in quotes that is none"},
      {"a: [b\n", "line 1 of a.yml has a list without an end"},
      {"a: \"b\" c\n", "line 1 of a.yml goes on after its value"},
      {"a: \xFF\n", "[yaml] a.yml is not UTF-8"},
  }));
  INFO(text);
  CHECK_THROWS_WITH(parse_yaml(text, "a.yml"), ContainsSubstring(message));
}
