#include "train/run.h"

#include <catch_amalgamated.hpp>

#include "data/tasks.h"
#include "tests/support.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

TrainingTexts texts() { return {make_pairs("copy", 60, 1), make_pairs("copy", 10, 2)}; }

Preset small() {
  Preset p = preset("tiny");
  p.config.d_model = 16, p.config.ffn_dim = 32, p.config.num_heads = 2;
  p.config.encoder_layers = p.config.decoder_layers = 1;
  p.training.batch_tokens = 200;
  return p;
}

TrainingStart new_start(const Preset& p) {
  TrainingTexts all = texts();
  all.train.sources.insert(all.train.sources.end(), all.valid.sources.begin(), all.valid.sources.end());
  return fresh_start(p, counted_tokenizers(all.train, "char", 0, /*joint=*/true), 1e12);
}

}  // namespace

TEST_CASE("A run goes on from its checkpoint to the very same bytes, across epochs and validations") {
  const Preset p = small();
  ThreadPool pool, two(2);
  TrainingRun whole(new_start(p), texts(), pool);
  std::string checkpoint;
  for (int i = 0; i < 12; ++i) {
    whole.step();
    if (i == 3 || i == 7) whole.validate();
    if (i == 4) checkpoint = whole.checkpoint();
  }
  REQUIRE(whole.progress().epoch > 0);

  TrainingRun resumed(resumed_start(checkpoint), texts(), two);
  CHECK(resumed.progress().step == 5);
  for (int i = 5; i < 12; ++i) {
    resumed.step();
    if (i == 7) resumed.validate();
  }
  CHECK(resumed.checkpoint() == whole.checkpoint());
  CHECK(resumed.model_file() == whole.model_file());
}

TEST_CASE("With BPE-dropout each epoch has other tokens, also after a checkpoint") {
  const auto bpe = std::make_shared<const Tokenizer>(
      read_file(own_fixtures_path() + "/sentencepiece/iwslt17-spm_bpe.model"));
  const TrainingTexts texts{
      {{"the translation of a sentence", "another one"}, {"these sentences", "one more"}},
      {{"a sentence"}, {"these"}}};
  Preset p = small();
  p.training.bpe_dropout = 0.5;
  ThreadPool pool;
  TrainingRun whole(fresh_start(p, {bpe, bpe}, 1e12), texts, pool);
  const auto tokens = [](const Corpus& corpus) {
    return std::pair(corpus.pairs[0].source, corpus.pairs[0].target);
  };
  const auto first = tokens(whole.corpus());
  CHECK(first.first.size() > tokens(tokenize_corpus(texts.train.sources, texts.train.targets, *bpe, *bpe,
                                                    whole.model().transformer->config()))
                                 .first.size());
  CHECK(whole.valid_corpus().pairs[0].source.size() == bpe->encode("a sentence").size() + 1);
  whole.step();
  REQUIRE(whole.epoch_has_ended());
  CHECK(tokens(whole.corpus()) != first);
  TrainingRun resumed(resumed_start(whole.checkpoint()), texts, pool);
  for (auto* run : {&whole, &resumed}) run->step(), run->step();
  CHECK(resumed.checkpoint() == whole.checkpoint());

  CHECK_THROWS_WITH(TrainingRun(new_start(p), ::texts(), pool),
                    "[train] bpe_dropout is 0.5, but no tokenizer is of BPE");
}

TEST_CASE("Validation keeps the figures of the best weights only") {
  Preset p = small();
  p.training.schedule = Schedule::constant;
  p.training.learning_rate = 0.01;
  p.training.warmup_steps = 0;
  ThreadPool pool;
  TrainingRun run(new_start(p), texts(), pool);
  for (int i = 0; i < 5; ++i) run.step();
  const Validation first = run.validate();
  CHECK(first.is_best);
  CHECK(first.loss > 0);
  CHECK(first.greedy.hypotheses.size() == 10);
  CHECK(run.model().metadata.at("steps") == "5");
  CHECK(run.model().metadata.at("valid_loss") == fixed(first.loss, 4));
  const Validation again = run.validate();
  CHECK(again.loss == first.loss);
  CHECK(!again.is_best);
}

TEST_CASE("Texts without a usable pair are refused") {
  const Preset p = small();
  ThreadPool pool;
  CHECK_THROWS_WITH(TrainingRun(new_start(p), {{{""}, {"a"}}, texts().valid}, pool),
                    ContainsSubstring("empty side"));
  CHECK_THROWS_WITH(TrainingRun(new_start(p), {texts().train, {{"a", "b"}, {"a"}}}, pool),
                    ContainsSubstring("2 source lines but 1"));
}
