#include "exchange/containers/yaml.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Marian's options are read") {
  const Yaml yaml = parse_yaml(
      "# a comment\n---\ntype: transformer  # and one\nempty: \"\"\nnothing:\nlist:\n  - 1\n  - \"two 2\"\n"
      "  - three\nflat:\n- 1\n- 2\nnone:\n  []\nbrackets: [a, 'b, c', \"d\"]\r\nurl: http://a:80/b\n'it''s': "
      "'o''clock'\n",
      "a.yml");
  CHECK(yaml == Yaml{{"type", {"transformer"}},
                     {"empty", {""}},
                     {"nothing", {}},
                     {"list", {"1", "two 2", "three"}},
                     {"flat", {"1", "2"}},
                     {"none", {}},
                     {"brackets", {"a", "b, c", "d"}},
                     {"url", {"http://a:80/b"}},
                     {"it's", {"o'clock"}}});
}

TEST_CASE("Marian's vocabularies are read") {
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

TEST_CASE("An empty file has no keys, and JSON is valid YAML") {
  CHECK(parse_yaml("", "a.yml").empty());
  CHECK(parse_yaml("# nothing\n", "a.yml").empty());
  CHECK(parse_yaml("{\"a\": 1, \"b\": [2, 3]}", "a.yml") == Yaml{{"a", {"1"}}, {"b", {"2", "3"}}});
}

TEST_CASE("YAML that Marian does not write is refused, naming the line") {
  const std::string unsupported = "only keys with one value or a list of values are supported";
  const auto [text, message] = GENERATE_COPY(table<std::string, std::string>({
      {"a: 1\na: 2\n", "[yaml] line 2 of a.yml: the key 'a' occurs twice"},
      {"a: &b 1\n", "[yaml] line 1 of a.yml: " + unsupported},
      {"a: *b\n", "line 1 of a.yml: " + unsupported},
      {"a: !!python/object b\n", "line 1 of a.yml: " + unsupported},
      {"a: {b: c}\n", "line 1 of a.yml: " + unsupported},
      {"a:\n  b: c\n", "line 2 of a.yml: " + unsupported},
      {"a: [[b]]\n", "line 1 of a.yml: " + unsupported},
      {"[a]: b\n", "line 1 of a.yml: " + unsupported},
      {"- a\n", "line 1 of a.yml: there is no key"},
      {"a\n", "line 1 of a.yml: there is no key"},
      {"a: 1\n---\nb: 2\n", "line 2 of a.yml: there is a second document"},
      {"a: 1\n  b\n c: d\n", "a.yml: mapping values are not allowed in this context"},
      {"a: \"b\n", "a.yml: found unexpected end of stream"},
      {"a: 'b\n", "a.yml: found unexpected end of stream"},
      {"a: \"\\q\"\n", "line 1 of a.yml: found unknown escape character"},
      {"a: \"\\u12\"\n", "line 1 of a.yml: did not find expected hexdecimal number"},
      {"a: [b\n", "a.yml: did not find expected ',' or ']'"},
      {"a: \"b\" c\n", "line 1 of a.yml: did not find expected key"},
      {"a: \xFF\n", "a.yml: invalid leading UTF-8 octet"},
  }));
  INFO(text);
  CHECK_THROWS_WITH(parse_yaml(text, "a.yml"), ContainsSubstring(message));
}

TEST_CASE("Deeply nested YAML is refused") {
  for (const char* open : {"[", "{", "- ", "{a: ", "? "}) {
    std::string text = "a: ";
    for (int i = 0; i < 100'000; ++i) text += open;
    CHECK_THROWS_AS(parse_yaml(text, "a.yml"), Error);
  }
}
