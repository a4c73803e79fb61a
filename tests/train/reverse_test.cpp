#include <catch_amalgamated.hpp>
#include <set>

#include "decode/translator.h"
#include "tests/text/tiny_tokenizer.h"
#include "train/trainer.h"

using namespace wasmformer;

TEST_CASE("A model of preset tiny learns to reverse strings that it has not seen") {
  std::vector<std::string> letters;
  for (char c = 'a'; c <= 'z'; ++c) letters.emplace_back(1, c);
  const auto tokenizer = std::make_shared<const Tokenizer>(tiny::model(letters));

  // All different, so that those for the test are new.
  Random random(1);
  std::set<std::string> distinct;
  while (distinct.size() < 20000) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += static_cast<char>('a' + random.below(26));
    distinct.insert(text);
  }
  std::vector<std::string> strings(distinct.begin(), distinct.end());
  random.shuffle(strings);
  constexpr std::size_t unseen = 500;
  std::vector<std::string> sources, targets, new_sources, new_targets;
  for (const auto& text : strings) {
    (new_sources.size() < unseen ? new_sources : sources).push_back(text);
    (new_targets.size() < unseen ? new_targets : targets).emplace_back(text.rbegin(), text.rend());
  }

  auto [config, training] = preset("tiny");
  training.learning_rate *= 0.5;  // a steadier end than the preset's, whose start is faster
  config.source_vocab_size = config.target_vocab_size = tokenizer->vocab_size();
  const Corpus corpus = tokenize_corpus(sources, targets, *tokenizer, *tokenizer, config);
  ModelFile model{std::make_unique<Transformer>(config), tokenizer, tokenizer, {}};
  model.transformer->initialize(training.seed);
  ThreadPool pool(2);
  Trainer trainer(*model.transformer, corpus, training, pool);
  while (trainer.progress().step < 800) trainer.step();

  const auto translations = translate_in_batches(model, pool, new_sources, {.beam_size = 1}, 2048);
  std::size_t exact = 0;
  for (std::size_t i = 0; i < unseen; ++i) exact += translations[i].text == new_targets[i];
  INFO(exact << " of " << unseen << " exact, training loss " << trainer.take_mean_loss());
  CHECK(exact >= unseen * 99 / 100);
}
