#include "train/trainer.h"

#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <limits>

#include "ops/cross_entropy.h"
#include "schema/error.h"
#include "tasks/annotate/labels.h"
#include "tasks/translate/translator.h"
#include "tests/train/small_run.h"
#include "train/schedule.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("Any number of threads trains and translates to the same bytes") {
  Config c = letters_config();
  c.d_model = 64;  // several chunks of work for the threads
  c.ffn_dim = 200;
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  c.attention = GENERATE(AttentionScore::scaled_dot, AttentionScore::additive, AttentionScore::bilinear);
  c.dropout = c.attention_dropout = c.activation_dropout = 0.1;
  const Corpus corpus = random_corpus(400, 1);
  TrainingConfig config = small_training();
  config.batch_tokens = 700;
  config.clip_norm = 1;
  config.optimizer = GENERATE(OptimizerKind::adam, OptimizerKind::muon);
  config.output_sample = config.optimizer == OptimizerKind::muon ? 10 : 0;
  std::string expected;
  std::vector<Translation> expected_translations;
  for (int threads : {1, 2, 3}) {
    INFO(threads << " threads");
    ModelFile file{std::make_unique<Transformer>(c), letters_tokenizer(), letters_tokenizer(), {}};
    file.transformer->initialize(3);
    ThreadPool pool(threads);
    Trainer trainer(*file.transformer, corpus, config, pool);
    for (int step = 0; step < 6; ++step) trainer.step();
    validation_loss(trainer, corpus);
    const std::string state = state_bytes(trainer);
    std::vector<std::string> texts;
    for (Index i = 0; i < 40; ++i) texts.push_back(std::string(1 + i % 9, static_cast<char>('a' + i % 8)));
    const auto translations = translate_in_batches(file, pool, texts, {.max_length = 10}, 300);
    if (threads == 1) {
      expected = state;
      expected_translations = translations;
      continue;
    }
    CHECK(state == expected);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(translations[i].text == expected_translations[i].text);
      CHECK(translations[i].score == expected_translations[i].score);
    }
  }
}

TEST_CASE("A step reports the batch's loss, and training lowers it") {
  const Corpus corpus = random_corpus(6, 2);
  TrainingConfig config = small_training();
  config.batch_tokens = 1000;
  config.label_smoothing = 0;
  Config c = letters_config();
  c.dropout = 0;
  Transformer model(c);
  model.initialize(1);
  ThreadPool pool;
  Trainer trainer(model, corpus, config, pool);
  REQUIRE(trainer.batches_per_epoch() == 1);
  Index tokens = 0;
  for (const auto& pair : corpus.pairs) tokens += static_cast<Index>(pair.target.size());
  const double before = validation_loss(trainer, corpus);
  const StepReport first = trainer.step();
  // Without dropout and smoothing both are the mean of -log p over the same tokens.
  CHECK(first.loss == Catch::Approx(before).epsilon(1e-5));
  CHECK(first.units == tokens);
  CHECK(first.gradient_norm > 0);
  CHECK(first.learning_rate == scheduled_rate(config, c.d_model, 1));
  for (int step = 0; step < 200; ++step) trainer.step();
  CHECK(validation_loss(trainer, corpus) < 0.2 * before);  // six pairs are soon known by heart
  CHECK(trainer.progress().step == 201);
  CHECK(trainer.progress().epoch == 201);
}

TEST_CASE("The mean loss between two reports weighs every target token equally") {
  const Corpus corpus = random_corpus(30, 3);
  ThreadPool pool;
  Transformer model(letters_config());
  model.initialize(1);
  Trainer trainer(model, corpus, small_training(), pool);
  for (int report = 0; report < 2; ++report) {
    double sum = 0, tokens = 0;
    for (int step = 0; step < 3; ++step) {
      const StepReport r = trainer.step();
      sum += r.loss * static_cast<double>(r.units);
      tokens += static_cast<double>(r.units);
    }
    CHECK(trainer.take_mean_loss() == Catch::Approx(sum / tokens).epsilon(1e-12));
  }
}

TEST_CASE("Validation does not change the run, and uses no dropout") {
  const Corpus corpus = random_corpus(40, 4), valid = random_corpus(25, 5);
  Config c = letters_config();
  c.dropout = 0.3;
  ThreadPool pool;
  Transformer checked(c), unchecked(c);
  checked.initialize(1);
  unchecked.initialize(1);
  Trainer a(checked, corpus, small_training(), pool), b(unchecked, corpus, small_training(), pool);
  for (int step = 0; step < 8; ++step) {
    a.step();
    b.step();
    const double loss = validation_loss(a, valid);
    CHECK(validation_loss(a, valid) == loss);
  }
  CHECK(state_bytes(a) == state_bytes(b));

  // The mean over all target tokens, however the batches are cut.
  TrainingConfig other = small_training();
  other.batch_tokens = 10000;
  Trainer whole(checked, corpus, other, pool);
  CHECK(validation_loss(whole, valid) == Catch::Approx(validation_loss(a, valid)).epsilon(1e-5));
}

TEST_CASE("Seeds decide the order of the data and the dropout") {
  const Corpus corpus = random_corpus(40, 4);
  Config c = letters_config();
  c.dropout = 0.3;
  ThreadPool pool;
  const auto train = [&](std::uint64_t seed, Index batch_tokens) {
    TrainingConfig config = small_training();
    config.seed = seed;
    config.batch_tokens = batch_tokens;
    Transformer model(c);
    model.initialize(1);
    Trainer trainer(model, corpus, config, pool);
    for (int step = 0; step < 5; ++step) trainer.step();
    return state_bytes(trainer);
  };
  CHECK(train(1, 40) == train(1, 40));
  CHECK(train(1, 40) != train(2, 40));
  CHECK(train(1, 10000) != train(2, 10000));  // one batch an epoch: dropout alone differs
}

TEST_CASE("A diverging learning rate is refused with a message, and the weights stay") {
  const Corpus corpus = random_corpus(40, 6);
  TrainingConfig config = small_training();
  config.schedule = Schedule::constant;
  config.warmup_steps = 0;
  config.learning_rate = 1e30;
  Transformer model(letters_config());
  model.initialize(1);
  ThreadPool pool;
  Trainer trainer(model, corpus, config, pool);
  std::string before, message;
  for (int step = 0; step < 5 && message.empty(); ++step) {
    before = state_bytes(trainer);
    try {
      trainer.step();
    } catch (const Error& e) {
      message = e.what();
    }
  }
  CHECK_THAT(message, ContainsSubstring("not finite") && ContainsSubstring("weights are those from before"));
  CHECK(state_bytes(trainer) == before);
  CHECK_THROWS_AS(trainer.step(), Error);  // and again
  CHECK(state_bytes(trainer) == before);
}

TEST_CASE("A failed step does not affect the next one") {
  Corpus corpus = random_corpus(40, 6);
  TrainingConfig config = small_training();
  config.accumulate = GENERATE(1, 2);
  ThreadPool pool;
  Transformer model(letters_config()), other(letters_config());
  model.initialize(1);
  other.initialize(1);
  Trainer trainer(model, corpus, config, pool), undisturbed(other, corpus, config, pool);
  trainer.step();
  undisturbed.step();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  model.visit([&](const ParameterInfo& info, Parameter& p) {
    CAPTURE(info.name);
    p.gradient(0, 0) = infinity;
    CHECK_THROWS_WITH(trainer.step(), ContainsSubstring("gradient of step 2 is not finite"));
    if (!info.name.ends_with("layers.0.fc2.weight")) return;
    const Matrix kept = p.value;
    p.value.setConstant(infinity);
    CHECK_THROWS_WITH(trainer.step(), ContainsSubstring("loss of step 2 is not finite"));
    p.value = kept;
  });
  // The last batch of the step, after gradients of the first were added.
  const auto batches = plan_shuffled_batches(corpus, config.batch_tokens, config.seed, 0);
  TokenId& id = corpus.pairs[batches[static_cast<std::size_t>(2 * config.accumulate - 1)][0]].source[0];
  const TokenId kept = std::exchange(id, 1'000'000);
  CHECK_THROWS_WITH(trainer.step(), ContainsSubstring("1000000"));
  id = kept;
  trainer.step();
  undisturbed.step();
  CHECK((state_bytes(trainer) == state_bytes(undisturbed)));
}

TEST_CASE("An impossible training config is refused before anything happens") {
  const Corpus corpus = random_corpus(4, 6);
  Transformer model(letters_config());
  model.initialize(1);
  ThreadPool pool;
  TrainingConfig config = small_training();
  config.learning_rate = 0;
  CHECK_THROWS_WITH(Trainer(model, corpus, config, pool), ContainsSubstring("learning_rate"));
}

TEST_CASE("Accumulated batches change the weights like one batch of all their sentences") {
  Config c = letters_config();
  c.dropout = 0;
  const Corpus corpus = random_corpus(12, 2);
  const auto losses = [&](Index batch_tokens, Index accumulate) {
    TrainingConfig training = small_training();
    training.batch_tokens = batch_tokens, training.accumulate = accumulate;
    Transformer transformer(c);
    transformer.initialize(3);
    ThreadPool pool;
    Trainer trainer(transformer, corpus, training, pool);
    std::vector<double> all;
    for (int i = 0; i < 4; ++i) all.push_back(trainer.step().loss);
    return all;
  };
  const auto whole = losses(1000, 1), parts = losses(14, 100);  // 100: more than an epoch has, which ends the update
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(parts[i] == Catch::Approx(whole[i]).margin(1e-5));
}

TEST_CASE("Classes balanced in training count equally in validation") {
  Config c = letters_config();
  c.decoder_layers = 0, c.classes = 3;
  AnnotatedExamples texts;
  for (const SentencePair& pair : random_corpus(30, 4).pairs)
    texts.all.push_back({.source = pair.source, .tags = {}, .words = {}, .classes = {pair.source[0] % 4 / 2}});
  TrainingConfig plain = small_training(), balanced = plain;
  balanced.balance_classes = true;
  Transformer transformer(c);
  transformer.initialize(3);
  ThreadPool pool;
  Trainer a(transformer, texts, plain, pool), b(transformer, texts, balanced, pool);
  CHECK(validation_loss(b, texts) == validation_loss(a, texts));
  const double loss = a.step().loss;
  transformer.initialize(3);
  CHECK(b.step().loss != Catch::Approx(loss).epsilon(1e-4));
}

TEST_CASE("Training by Muon with sampled outputs lowers the loss of the whole vocabulary") {
  const Corpus corpus = random_corpus(6, 2);
  TrainingConfig config = small_training();
  config.optimizer = OptimizerKind::muon;
  config.output_sample = 7;
  config.schedule = Schedule::linear;
  config.learning_rate = 0.01;
  config.decay_steps = 150;
  config.batch_tokens = 20;
  config.accumulate = GENERATE(1, 2);
  Config c = letters_config();
  c.tie_embeddings = GENERATE(TieEmbeddings::all, TieEmbeddings::none);
  c.decoder_self = GENERATE(DecoderSelf::attention, DecoderSelf::ssru);
  c.dropout = 0;
  Transformer model(c);
  model.initialize(1);
  ThreadPool pool;
  Trainer trainer(model, corpus, config, pool);
  const double before = validation_loss(trainer, corpus);
  for (int step = 0; step < 150; ++step) trainer.step();
  CHECK(validation_loss(trainer, corpus) < 0.3 * before);
  const auto& moments = trainer.optimizer().moments();
  std::size_t at = 0;
  model.visit([&](const ParameterInfo& info, const Parameter&) {
    CHECK((moments[at++].variance.size() == 0) == info.is_matrix_in_layer());
  });
}

TEST_CASE("Muon's rate rises and falls with the other rate, and may change on the way") {
  const Corpus corpus = random_corpus(30, 3);
  TrainingConfig config = small_training();
  config.optimizer = OptimizerKind::muon;
  ThreadPool pool;
  Transformer model(letters_config());
  model.initialize(1);
  Trainer trainer(model, corpus, config, pool);
  std::vector<Matrix> before;
  const auto change = [&] {  // the norm of the change of all matrices in layers, which grows with the rate
    before.clear();
    model.visit([&](const ParameterInfo&, const Parameter& p) { before.push_back(p.value); });
    trainer.step();
    double squares = 0;
    std::size_t at = 0;
    model.visit([&](const ParameterInfo& info, const Parameter& p) {
      const double norm = static_cast<double>((p.value - before[at++]).squaredNorm());
      if (info.is_matrix_in_layer()) squares += norm;
    });
    return std::sqrt(squares);
  };
  const double first = change(), second = change();  // a fifth and two fifths of the peak
  CHECK(second / first == Catch::Approx(2).epsilon(0.2));
  TrainingConfig faster = config;
  faster.muon_rate = 10 * config.muon_rate;
  trainer.change(faster);
  CHECK(change() / second == Catch::Approx(15).epsilon(0.2));
  faster.muon_momentum = 0.5;
  CHECK_THROWS_WITH(trainer.change(faster), ContainsSubstring("muon_rate") && ContainsSubstring("nothing else"));
}

TEST_CASE("Sampled outputs are refused where no tokens are predicted") {
  Config c = letters_config();
  c.decoder_layers = 0, c.classes = 3;
  AnnotatedExamples texts;
  texts.all.push_back({.source = {5, 3}, .tags = {}, .words = {}, .classes = {1}});
  TrainingConfig config = small_training();
  config.output_sample = 5;
  Transformer transformer(c);
  transformer.initialize(3);
  ThreadPool pool;
  CHECK_THROWS_WITH(Trainer(transformer, texts, config, pool), ContainsSubstring("predicts no tokens"));
}
