#include "text/split_words.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;

namespace {

// The words with spaces between them.
std::string cut(const std::string& text) {
  std::string words;
  for (const std::string_view word : split_words(text)) words += (words.empty() ? "" : " ") + std::string(word);
  return words;
}

}  // namespace

TEST_CASE("Contractions are cut as in the treebanks of Universal Dependencies") {
  const auto [text, words] = GENERATE(table<std::string, std::string>({
      // UD English EWT
      {"I don't know what it's called.", "I do n't know what it 's called ."},
      {"She can't go, but John's dog will.", "She ca n't go , but John 's dog will ."},
      {"They're here, we've won, I'd go, he'll come, I'm in",
       "They 're here , we 've won , I 'd go , he 'll come , I 'm in"},
      {"Let's see. IT'S A PITY, DON'T", "Let 's see . IT 'S A PITY , DO N'T"},
      {"I shouldn't've", "I should n't 've"},
      {"it\u2019s, don\u2019t", "it \u2019s , do n\u2019t"},
      {"I cannot, ain't gonna, wanna, dunno", "I can not , ai n't gon na , wan na , du n no"},
      {"the dogs' owner, James'", "the dogs ' owner , James '"},
      {"O'Rourke and Qa'ida at five o'clock", "O'Rourke and Qa'ida at five o'clock"},
      {"Qur'an's text in the 1960's", "Qur'an 's text in the 1960's"},
      {"tell 'em", "tell 'em"},
      // The Penn Treebank's tokenizer
      {"'Twas, d'ye see?", "'T was , d' ye see ?"},
      // UD French GSD
      {"L'homme qu'il a vu n'est pas d'ici", "L' homme qu' il a vu n' est pas d' ici"},
      {"l\u2019eau, aujourd'hui, jusqu'à, quelqu'un", "l\u2019 eau , aujourd'hui , jusqu' à , quelqu'un"},
      // Quotation marks are not apostrophes.
      {"'Hello', the 's' and 'the end'", "' Hello ' , the ' s ' and ' the end '"},
      {"D'Angelo", "D'Angelo"},
      {"'", "'"},
      {"a''b", "a ' ' b"},
  }));
  CHECK(cut(text) == words);
}

TEST_CASE("What is cut already is not cut again") {
  CHECK(cut("They \u2019re here , it 's n't , do N'T") == "They \u2019re here , it 's n't , do N'T");
  CHECK(cut("I should n't 've , he 'll , we 'd , I 'm") == "I should n't 've , he 'll , we 'd , I 'm");
}

TEST_CASE("Words with an apostrophe keep their places in any script") {
  const std::string text = "\U0001F600 去don't京";
  const auto words = split_words(text);
  REQUIRE(words.size() >= 3);
  for (const std::string_view word : words) CHECK(word.data() >= text.data());
  CHECK(words[0] == "\U0001F600");
  CHECK(cut("Привет, it's 3,5 km") == "Привет , it 's 3,5 km");
}
