#include "train/training_run.h"

#include <catch_amalgamated.hpp>

#include "schema/json.h"
#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

TrainingTexts texts() { return {texts_of(make_pairs("copy", 60, 1)), texts_of(make_pairs("copy", 10, 2))}; }

Preset small_preset() {
  Preset p = preset("tiny");
  p.config.d_model = 16, p.config.ffn_dim = 32, p.config.num_heads = 2;
  p.config.encoder_layers = p.config.decoder_layers = 1;
  p.training.batch_tokens = 200;
  return p;
}

TrainingStart new_start(const Preset& p) {
  const TrainingTexts all = texts();
  std::vector<std::vector<std::string>> sides = all.train->sides();
  sides.push_back(all.valid->sides()[0]);
  return fresh_start(p, counted_tokenizers(sides, TokenizerType::character, 0, /*joint=*/true), 1e12);
}

}  // namespace

TEST_CASE("A run resumes from its checkpoint with identical bytes, across epochs and validations") {
  const Preset p = small_preset();
  ThreadPool pool, two(2);
  TrainingSession whole(new_start(p), texts(), pool);
  std::string checkpoint;
  for (int i = 0; i < 12; ++i) {
    whole.step();
    if (i == 3 || i == 7) whole.validate();
    if (i == 4) checkpoint = whole.checkpoint();
  }
  REQUIRE(whole.progress().epoch > 0);

  TrainingSession resumed(resumed_start(checkpoint), texts(), two);
  CHECK(resumed.progress().step == 5);
  for (int i = 5; i < 12; ++i) {
    resumed.step();
    if (i == 7) resumed.validate();
  }
  CHECK(resumed.checkpoint() == whole.checkpoint());
  CHECK(resumed.model_file() == whole.model_file());
}

TEST_CASE("A model records its step, and validation figures if its own weights were validated") {
  Preset p = small_preset();
  p.training.schedule = Schedule::constant;
  p.training.learning_rate = 0.01;
  p.training.warmup_steps = 0;
  ThreadPool pool;
  TrainingSession run(new_start(p), texts(), pool);
  for (int i = 0; i < 5; ++i) run.step();
  const Validation first = run.validate();
  CHECK(first.is_best);
  CHECK(first.loss > 0);
  CHECK(first.scores.further.contains("exact_match"));
  CHECK(run.metadata().at("steps") == "5");
  CHECK(run.metadata().at("valid_loss") == fixed(first.loss, 4));
  CHECK(run.metadata().at("valid_bleu") == fixed(first.scores.figures.at("bleu"), 2));
  const Validation again = run.validate();
  CHECK(again.loss == first.loss);
  CHECK(!again.is_best);

  run.step();
  CHECK(run.metadata().at("steps") == "6");
  CHECK_FALSE(run.metadata().contains("valid_loss"));
  CHECK_FALSE(run.metadata().contains("valid_bleu"));
  // Weights that are worse than the best have figures of their own.
  run.change(R"({"learning_rate": 1})");
  run.step();
  const Validation worse = run.validate();
  CHECK(!worse.is_best);
  CHECK(run.metadata().at("steps") == "7");
  CHECK(run.metadata().at("valid_loss") == fixed(worse.loss, 4));
}

TEST_CASE("Metadata cannot replace what a model or its run is read from") {
  ThreadPool pool;
  TrainingSession run(new_start(small_preset()), texts(), pool);
  for (const char* key : {"tags", "config", "task", "progress", "run.texts"}) {
    INFO(key);
    const StringMap more{{key, "demo"}};
    CHECK_THROWS_WITH(run.model_file(more), ContainsSubstring(std::string("cannot have the key ") + key));
    CHECK_THROWS_WITH(run.checkpoint(more), ContainsSubstring(key));
  }
  CHECK(parse_model(run.checkpoint({{"tag", "demo"}})).metadata.at("tag") == "demo");
}

TEST_CASE("A validation says that training has diverged, and keeps no such weights as the best") {
  Preset p = small_preset();
  p.training.schedule = Schedule::constant;
  p.training.warmup_steps = 0;
  p.training.learning_rate = 1e30;
  ThreadPool pool;
  TrainingSession run(new_start(p), texts(), pool);
  run.step();
  CHECK_THROWS_WITH(
      run.validate(),
      ContainsSubstring("[train] the validation loss after step 1 is not finite; training has diverged") &&
          ContainsSubstring("lower learning_rate"));
  CHECK_FALSE(run.model_file().empty());  // the run is still there
}

TEST_CASE("Texts without a usable pair are refused") {
  const Preset p = small_preset();
  ThreadPool pool;
  CHECK_THROWS_WITH(TrainingSession(new_start(p), {texts_of({{""}, {"a"}}), texts().valid}, pool),
                    ContainsSubstring("empty side"));
  CHECK_THROWS_WITH(texts_of({{"a", "b"}, {"a"}}), ContainsSubstring("2 source sentences but 1"));
}

TEST_CASE(
    "A new model begins with biases at the log frequencies of the target pieces, and a resumed one with its own") {
  Preset p = small_preset();
  p.training.unigram_bias = true;
  ThreadPool pool;
  const TrainingTexts all{texts_of({{"ab", "b"}, {"aab", "a"}}), texts_of({{"c"}, {"c"}})};
  const auto tokenizers =
      counted_tokenizers({{"ab", "b", "aab", "a", "c"}}, TokenizerType::character, 0, /*joint=*/true);
  const auto biases = [](const TrainingSession& run) {
    Matrix found;
    run.model().transformer->visit([&](const ParameterInfo& info, const Parameter& q) {
      if (info.name == "final_logits_bias") found = q.value;
    });
    return found;
  };
  TrainingSession run(fresh_start(p, tokenizers, 1e12), all, pool);
  // "aab" and "a", each with an end token.
  const Matrix first = biases(run);
  const auto id = [&](const char* piece) { return run.model().target_tokenizer->ids().at(piece); };
  CHECK(first(0, id("a")) == Catch::Approx(std::log(3 / 6.0)));
  CHECK(first(0, id("b")) == Catch::Approx(std::log(1 / 6.0)));
  CHECK(first(0, id("c")) == Catch::Approx(std::log(0.5 / 6)));
  CHECK(first(0, run.model().target_tokenizer->eos_id()) == Catch::Approx(std::log(2 / 6.0)));
  run.step();
  REQUIRE(biases(run) != first);
  TrainingSession again(resumed_start(run.checkpoint()), all, pool);
  CHECK(biases(again) == biases(run));

  const std::string file = run.model_file();
  CHECK_THROWS_WITH(fine_tuning_start(file, p.training, JsonObject()), ContainsSubstring("begins with its own biases"));
  CHECK(!fine_tuning_start(file, TrainingConfig(), JsonObject()).training.unigram_bias);
  p.config.output_bias = false;
  CHECK_THROWS_WITH(fresh_start(p, tokenizers, 1e12), ContainsSubstring("it needs output_bias"));
}
