#include "text/metrics/bleu_and_chrf.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::WithinAbs;

// Figures of sacreBLEU itself, from the tests and documents named.

TEST_CASE("BLEU matches sacreBLEU's") {
  // mjpost/sacrebleu, test/test_sentence_bleu.py: exp smoothing, 13a, to three decimals.
  CHECK_THAT(bleu({"Produc\u021Bia de zah\u0103r prim\u0103 va fi exprimat\u0103 \u00EEn ceea ce "
                   "prive\u0219te zah\u0103rul alb;"},
                  {"produc\u0163ia de zah\u0103r brut se exprim\u0103 \u00EEn zah\u0103r alb;"}),
             WithinAbs(8.493, 1e-3));
  CHECK(bleu({"this is a cat"}, {"okay thanks"}) == 0);
  // mjpost/sacrebleu, test/test_bleu.py: an empty hypothesis is kept, and counts against.
  CHECK(bleu({"", "", ""}, {"The dog bit the man.", "It was not unexpected.", "The man bit him first."}) == 0);
  // huggingface/evaluate, metrics/sacrebleu/README.md, with the one reference of each that decides the
  // result.
  CHECK_THAT(bleu({"hello there general kenobi", "on our way to ankh morpork"},
                  {"hello there general kenobi", "goodbye ankh morpork"}),
             WithinAbs(39.76353643835252, 1e-10));
}

TEST_CASE("The BLEU of a short sentence skips orders for which it has too few words") {
  // mjpost/sacrebleu, test/test_bleu.py, with effective order.
  CHECK_THAT(sentence_bleu("test", "a test"), WithinAbs(36.78794411714425, 1e-10));
  CHECK_THAT(sentence_bleu("a test", "a test"), WithinAbs(100, 1e-10));
  // 2/3 of the words; half of a match in two pairs, a quarter in one triple.
  CHECK_THAT(sentence_bleu("a little test", "a test"), WithinAbs(100 * std::cbrt(2.0 / 3 / 4 / 4), 1e-10));
  CHECK(sentence_bleu("", "a test") == 0);
  CHECK(sentence_bleu("this is a cat", "okay thanks") == 0);
}

TEST_CASE("Lower-case BLEU is the BLEU of lower-cased texts") {
  const std::vector<std::string> capitals = {"THE Ärger ÜBER \u0160koda ΑΒΓ \u0416\u0401 ÷ × \u017Dena \u0141"},
                                 small = {"the ärger über \u0161koda αβγ \u0436\u0451 ÷ × \u017Eena \u0142"};
  CHECK(bleu(capitals, small) < 50);
  CHECK_THAT(bleu(capitals, small, {.lowercase = true}), WithinAbs(100, 1e-10));
  CHECK_THAT(bleu(small, small, {.lowercase = true}), WithinAbs(100, 1e-10));
  CHECK(bleu({"die Straße"}, {"die strasse"}, {.lowercase = true}) < 100);
  CHECK(bleu_signature({.lowercase = true}) == "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp");
}

TEST_CASE("Chinese words match sacreBLEU's") {
  // By the regular expressions and ranges of mjpost/sacrebleu, sacrebleu/tokenizers, run in Python.
  const std::vector<std::string> hypotheses = {"the cat sat on the mat, then.", "我们为什么要工作？",
                                               "他在2008年3.5月去了IBM的“总部”,花了1,000元…", ".5公里外有一只cat.",
                                               "汤姆昨天没有来 学校。"};
  const std::vector<std::string> references = {"the cat sat on the mat then.", "我们为什么工作？",
                                               "他2008年3.5月去了IBM公司的“总部”,花了1,000元。",
                                               "0.5公里外有一只 cat .", "汤姆昨天没来学校。"};
  const auto score = [&](const char* name) {
    return bleu(hypotheses, references, {.tokenizer = bleu_tokenizer(name)});
  };
  CHECK_THAT(score("zh"), WithinAbs(72.38064956956842, 1e-10));
  CHECK_THAT(score("char"), WithinAbs(83.98722795853249, 1e-10));
  CHECK_THAT(score("13a"), WithinAbs(48.85744139976471, 1e-10));
  CHECK_THAT(score("none"), WithinAbs(49.78197194980382, 1e-10));
  CHECK_THROWS_WITH(score("intl"), "[bleu] there is no tokenizer 'intl'; there are 13a, zh, char and none");

  // A text and the same with its words apart score 100 with the rule that parts them so. Ideographs of
  // Extension B are none of sacreBLEU's ranges; 13a alone parts a point at the beginning.
  const auto same = [](const std::string& a, const std::string& b, BleuTokenizer tokenizer) {
    return bleu({a + " x y z"}, {b + " x y z"}, {.tokenizer = tokenizer}) > 99.99;
  };
  CHECK(same("好。ok", "好 。 ok", BleuTokenizer::zh));
  CHECK_FALSE(same("好。ok", "好 。 ok", BleuTokenizer::v13a));
  CHECK(same(" Ａ㐀“…”★ｶ", "Ａ 㐀 “ … ” ★ ｶ", BleuTokenizer::zh));
  CHECK_FALSE(same("\U00020000\U00020001", "\U00020000 \U00020001", BleuTokenizer::zh));
  CHECK(same(".5", ". 5", BleuTokenizer::v13a));
  CHECK_FALSE(same(".5", ". 5", BleuTokenizer::zh));
}

TEST_CASE("A Chinese target uses the tokenizer zh, and the signature says so") {
  CHECK(default_bleu_tokenizer("en-zh") == BleuTokenizer::zh);
  CHECK(default_bleu_tokenizer("en-zh_TW") == BleuTokenizer::zh);
  for (const char* languages : {"", "zh", "zh-en", "en-de", "en-zhuang"})
    CHECK(default_bleu_tokenizer(languages) == BleuTokenizer::v13a);
  CHECK(bleu_signature({.tokenizer = BleuTokenizer::zh}) == "nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp");
  CHECK(bleu_signature({.tokenizer = BleuTokenizer::character}) == "nrefs:1|case:mixed|eff:no|tok:char|smooth:exp");
}

TEST_CASE("chrF2 matches sacreBLEU's") {
  // huggingface/evaluate, metrics/chrf/README.md
  const std::vector<std::string> hypotheses = {"The relationship between cats and dogs is not exactly friendly.",
                                               "a good bookshop is just a genteel black hole that knows how to read."};
  const std::vector<std::string> references = {"The relationship between dogs and cats is not exactly friendly.",
                                               "A good bookshop is just a genteel Black Hole that knows how to read."};
  CHECK_THAT(chrf(hypotheses, references), WithinAbs(84.64214891738334, 1e-10));
  // mjpost/sacrebleu, test/test_chrf.py, test_cases_effective_order; where precision equals recall beta is of
  // no account.
  CHECK_THAT(chrf({"a"}, {"a"}), WithinAbs(100, 1e-10));
  CHECK_THAT(chrf({"a b c"}, {"abc"}), WithinAbs(100, 1e-10));
  CHECK_THAT(chrf({"a", "b"}, {"a", "c"}), WithinAbs(50, 1e-10));
  CHECK_THAT(chrf({"aa"}, {"ab"}), WithinAbs(25, 1e-10));
  CHECK(chrf({""}, {"reference"}) == 0);
  CHECK(chrf({"abcdefg"}, {"hijklmnop"}) == 0);
}

TEST_CASE("BLEU follows its formula") {
  CHECK_THAT(bleu({"this is a test"}, {"this is a test"}), WithinAbs(100, 1e-10));
  // 3/4, 2/3, 1/2 and, without a match, half of one in one.
  CHECK_THAT(bleu({"a b c x"}, {"a b c d"}), WithinAbs(100 * std::pow(0.75 * 2 / 3 * 0.5 * 0.5, 0.25), 1e-10));
  // Two orders without a match: a half and a quarter.
  CHECK_THAT(bleu({"a b x c"}, {"a b c d"}), WithinAbs(100 * std::pow(0.75 / 3 * 0.5 / 2 * 0.25, 0.25), 1e-10));
  // A shorter hypothesis pays exp(1 - 6/5); a longer one loses precision alone.
  CHECK_THAT(bleu({"a b c d e"}, {"a b c d e f"}), WithinAbs(100 * std::exp(1 - 6.0 / 5), 1e-10));
  CHECK_THAT(bleu({"a b c d e f"}, {"a b c d e"}),
             WithinAbs(100 * std::pow(5.0 / 6 * 4 / 5 * 3 / 4 * 2 / 3, 0.25), 1e-10));
  // An n-gram counts as often as the reference has it.
  CHECK_THAT(bleu({"a a a a"}, {"a a b b"}), WithinAbs(100 * std::pow(0.5 / 3 * 0.5 / 2 * 0.25, 0.25), 1e-10));
  // No hypothesis has four words.
  CHECK(bleu({"a b c", "a"}, {"a b c", "a"}) == 0);
}

// A text and the same with its words apart, as mteval-v13a.pl splits them, score 100; one split less or more
// would not.
TEST_CASE("BLEU's words match those of mteval-v13a") {
  const auto [text, words] = GENERATE(table<std::string, std::string>({
      {"Hello, world! How are you?", "Hello , world ! How are you ?"},
      {"(a) [b] {c} \"d\" e/f", "( a ) [ b ] { c } \" d \" e / f"},
      {"x&y &amp; &lt;b&gt; &quot;q&quot;", "x & y & < b > \" q \""},
      {"3.14 is 1,000.5 times more", "3.14 is 1,000.5 times more"},
      {"in 1999, or 2,", "in 1999 , or 2 ,"},
      {"a.b .5 5. x", "a . b . 5 5 . x"},
      {"wait... what", "wait . . . what"},
      {"I don't well-known it", "I don't well-known it"},
      {"the 2-year-old 1990-95 one", "the 2 - year-old 1990 - 95 one"},
      {"50% of $5 + #1 *x", "50 % of $ 5 + # 1 * x"},
      {"a\u00A0b\u3000c d e", "a b c d e"},
      {"\u00E9, \u4F60\u597D. \u3002 x y", "\u00E9 , \u4F60\u597D . \u3002 x y"},
      {"<skipped>a b c d", "a b c d"},
      {"  a b   c d \t", "a b c d"},
  }));
  INFO(text);
  CHECK_THAT(bleu({text}, {words}), WithinAbs(100, 1e-10));
  CHECK_THAT(bleu({words}, {text}), WithinAbs(100, 1e-10));
}

TEST_CASE("Scores depend on case and accents") {
  CHECK(bleu({"A b c d"}, {"a b c d"}) < 100);
  CHECK(chrf({"A"}, {"a"}) == 0);
  CHECK(chrf({"\u00E9"}, {"\u00E8"}) == 0);  // they share a byte, not a character
}

TEST_CASE("A chrF order that no reference reaches does not count") {
  // Orders 1 and 2 of "ab": the hypothesis' longer n-grams have nothing to be compared with.
  CHECK_THAT(chrf({"abcd"}, {"ab"}), WithinAbs(100 * 5 * (5.0 / 12) / (4 * 5.0 / 12 + 1), 1e-10));
}

TEST_CASE("Scores need as many references as hypotheses") {
  CHECK_THROWS_WITH(bleu({"a"}, {}), "[bleu] 1 hypotheses and 0 references differ in number");
  CHECK_THROWS_WITH(bleu({}, {}), "[bleu] there are no hypotheses");
  CHECK_THROWS_WITH(chrf({"a"}, {"a", "b"}), "[chrf] 1 hypotheses and 2 references differ in number");
  CHECK_THROWS_WITH(chrf({}, {}), "[chrf] there are no hypotheses");
  CHECK_THROWS_AS(bleu({"\xFF"}, {"a"}), Error);
  CHECK_THROWS_AS(chrf({"a"}, {"\xFF"}), Error);
}
