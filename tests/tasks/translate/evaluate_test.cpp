#include "tasks/translate/evaluate.h"

#include <catch_amalgamated.hpp>

#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Evaluation scores the model's translations and counts their tokens") {
  const ModelFile model = letters_model(1, 1);
  ThreadPool pool;
  const std::vector<std::string> sources{"abc", "hgfe", "dd", "ab"};
  const TranslateOptions options{.beam_size = 2, .max_length = 12};
  const auto translations = translate_in_batches(model, pool, sources, options, 100);
  std::vector<std::string> texts;
  Index tokens = 0;
  for (const Translation& t : translations) {
    texts.push_back(t.text);
    tokens += static_cast<Index>(t.tokens.size());
  }
  const Evaluation same = evaluate(model, pool, sources, texts, options);
  CHECK(same.hypotheses == texts);
  CHECK(same.target_tokens == tokens);
  CHECK(same.chrf == Catch::Approx(100));
  CHECK(same.exact_match == 100);
  CHECK(evaluate(model, pool, sources, {texts[0], "y", texts[2], "w"}, options).exact_match == 50);
  const Evaluation other = evaluate(model, pool, sources, {"x", "y", "z", "w"}, options);
  CHECK(other.bleu < 1);
  CHECK(other.chrf < 1);
  CHECK(other.exact_match == 0);
}

TEST_CASE("BLEU of a model into Chinese compares characters") {
  ModelFile model = letters_model(1, /*end_bias=*/-9);
  const std::vector<std::string> letters{"一", "二", "三", "四", "五", "六", "七", "八"};
  model.target_tokenizer = std::make_shared<const Tokenizer>(tiny::model(letters));
  model.transformer->visit([](const ParameterInfo& info, Parameter& p) {
    if (info.name == "final_logits_bias") p.value(0, 1) = p.value(0, 4) = -9;  // no unknown ones and no spaces
  });
  ThreadPool pool;
  const TranslateOptions options{.beam_size = 1, .max_length = 12};
  const std::string text = translate_in_batches(model, pool, {"abc"}, options, 100)[0].text;
  std::string apart;
  for (const char byte : text) {
    if ((byte & 0xC0) != 0x80) apart += ' ';
    apart += byte;
  }
  const auto score = [&] { return evaluate(model, pool, {"abc"}, {apart}, options).bleu; };
  CHECK(score() < 1);
  model.metadata["languages"] = "en-zh";
  CHECK(score() == Catch::Approx(100));
}

TEST_CASE("Evaluation refuses lists of different lengths and names both") {
  const ModelFile model = letters_model(1);
  ThreadPool pool;
  CHECK_THROWS_WITH(evaluate(model, pool, {"a", "b"}, {"a"}, {}),
                    ContainsSubstring("2 sources") && ContainsSubstring("1 references"));
}
