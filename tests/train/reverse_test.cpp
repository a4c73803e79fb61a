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

TEST_CASE("Every way of scoring learns to reverse") {
  const auto tokenizer = std::make_shared<const Tokenizer>(tiny::model({"a", "b", "c", "d"}));
  // All strings of 5 letters; every tenth is kept for the test.
  std::vector<std::string> sources, targets, new_sources, new_targets;
  for (int i = 0; i < 1024; ++i) {
    std::string text;
    for (int place = 0, rest = i; place < 5; ++place, rest /= 4) text += static_cast<char>('a' + rest % 4);
    (i % 10 == 0 ? new_sources : sources).push_back(text);
    (i % 10 == 0 ? new_targets : targets).emplace_back(text.rbegin(), text.rend());
  }
  auto [config, training] = preset("tiny");
  config.attention = GENERATE(Scoring::dot, Scoring::additive, Scoring::bilinear);
  config.d_model = 32;
  config.encoder_layers = config.decoder_layers = 1;
  config.source_vocab_size = config.target_vocab_size = tokenizer->vocab_size();
  const Corpus corpus = tokenize_corpus(sources, targets, *tokenizer, *tokenizer, config);
  ModelFile model{std::make_unique<Transformer>(config), tokenizer, tokenizer, {}};
  model.transformer->initialize(training.seed);
  ThreadPool pool(2);
  Trainer trainer(*model.transformer, corpus, training, pool);
  while (trainer.progress().step < 300) trainer.step();

  const auto translations = translate_in_batches(model, pool, new_sources, {.beam_size = 1}, 2048);
  std::size_t exact = 0;
  for (std::size_t i = 0; i < new_sources.size(); ++i) exact += translations[i].text == new_targets[i];
  INFO(static_cast<int>(config.attention) << ": " << exact << " of " << new_sources.size() << " exact");
  CHECK(exact >= new_sources.size() * 95 / 100);
}
