#include "decode/evaluate.h"

#include <catch_amalgamated.hpp>

#include "tests/decode/letters_model.h"

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

TEST_CASE("Evaluation refuses lists of different lengths and names both") {
  const ModelFile model = letters_model(1);
  ThreadPool pool;
  CHECK_THROWS_WITH(evaluate(model, pool, {"a", "b"}, {"a"}, {}),
                    ContainsSubstring("2 sources") && ContainsSubstring("1 references"));
}
