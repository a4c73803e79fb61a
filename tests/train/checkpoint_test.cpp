#include "train/checkpoint.h"

#include <catch_amalgamated.hpp>
#include <nlohmann/json.hpp>

#include "schema/error.h"
#include "tests/train/small_run.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

Config dropping_config() {
  Config c = letters_config();
  c.dropout = 0.2;
  return c;
}

// A run over 60 pairs, with the model file that a checkpoint of it is.
struct Run {
  Corpus corpus = random_corpus(60, 1);
  ThreadPool pool;
  ModelFile model;
  Trainer trainer;

  Run() : Run(new_model()) {}
  explicit Run(ModelFile file, const TrainingConfig& training = small_training())
      : model(std::move(file)), trainer(*model.transformer, corpus, training, pool) {}

  static ModelFile new_model() {
    ModelFile file{std::make_unique<Transformer>(dropping_config()), letters_tokenizer(), letters_tokenizer(), {}};
    file.transformer->initialize(2);
    return file;
  }
  std::string checkpoint(const BestSoFar& best = {}) { return serialize_checkpoint(model, trainer, best); }
};

// `bytes` with its tensors and metadata changed.
std::string edited(const std::string& bytes, const std::function<void(SafetensorsFile&)>& edit) {
  SafetensorsFile file = parse_safetensors(bytes);
  edit(file);
  return serialize_safetensors({file.tensors.begin(), file.tensors.end()}, file.metadata);
}

}  // namespace

TEST_CASE("A run resumed anywhere ends with the same bytes as a run that never stopped") {
  TrainingConfig config = small_training();
  config.quantization_aware = GENERATE(false, true);
  config.quantization_bits = config.quantization_aware ? GENERATE(8, 4) : 8;
  config.quantization_start = config.quantization_bits == 4 ? 3 : 0;
  config.optimizer = GENERATE(OptimizerKind::adam, OptimizerKind::muon);
  config.output_sample = config.optimizer == OptimizerKind::muon ? 8 : 0;
  Run whole(Run::new_model(), config);
  const Index per_epoch = whole.trainer.batches_per_epoch();
  REQUIRE(per_epoch >= 4);
  const Index steps = 2 * per_epoch + 2;
  std::vector<std::string> states{state_bytes(whole.trainer)};
  std::vector<double> losses;
  for (Index step = 0; step < steps; ++step) {
    losses.push_back(whole.trainer.step().loss);
    states.push_back(state_bytes(whole.trainer));
  }

  // Before the first step, within epochs, at both ends of epochs.
  for (Index stop = 0; stop < steps; ++stop) {
    INFO("stopped after step " << stop);
    std::string saved;
    {
      Run first(Run::new_model(), config);
      for (Index step = 0; step < stop; ++step) first.trainer.step();
      saved = first.checkpoint();
    }
    Run second(parse_model(saved), config);
    restore_checkpoint(saved, second.trainer);
    REQUIRE((state_bytes(second.trainer) == states[static_cast<std::size_t>(stop)]));
    for (Index step = stop; step < steps; ++step)
      REQUIRE(second.trainer.step().loss == losses[static_cast<std::size_t>(step)]);
    CHECK((state_bytes(second.trainer) == states.back()));
  }
}

TEST_CASE("A checkpoint keeps the training config and the best result so far") {
  Run run;
  run.trainer.step();
  const std::string bytes = run.checkpoint({.error = 1.25, .step = 1});
  CHECK(checkpoint_config(parse_safetensors(bytes).metadata) == small_training());
  Run again(parse_model(bytes));
  const BestSoFar best = restore_checkpoint(bytes, again.trainer);
  CHECK(best.error == 1.25);
  CHECK(best.step == 1);

  const std::string none = run.checkpoint();
  CHECK(restore_checkpoint(none, again.trainer).step == 0);
  CHECK(restore_checkpoint(none, again.trainer).error == std::numeric_limits<double>::infinity());
}

TEST_CASE("Any number of tokens since the last report is resumed, but no negative one") {
  Run run;
  run.trainer.step();
  const std::string bytes = run.checkpoint();
  const auto with_tokens = [&](std::int64_t count) {
    return edited(bytes, [&](SafetensorsFile& file) {
      auto progress = nlohmann::json::parse(file.metadata.at("progress"));
      progress["loss_tokens"] = count;
      file.metadata["progress"] = progress.dump();
    });
  };
  Run again;
  restore_checkpoint(with_tokens(2'000'000'000), again.trainer);
  CHECK(again.trainer.progress().loss_units == 2'000'000'000);
  CHECK_THROWS_WITH(restore_checkpoint(with_tokens(-1), again.trainer), ContainsSubstring("-1 tokens in its loss"));
}

TEST_CASE("A checkpoint is a model file like any other") {
  Run run;
  for (int step = 0; step < 3; ++step) run.trainer.step();
  const ModelFile model = parse_model(run.checkpoint());
  CHECK((weight_bytes(*model.transformer) == weight_bytes(*run.model.transformer)));
  CHECK(model.transformer->config() == dropping_config());
}

TEST_CASE("An incomplete checkpoint is refused with a message") {
  Run run;
  run.trainer.step();
  const std::string bytes = run.checkpoint();
  const auto refused = [&](const std::string& changed, const auto& matcher) {
    Run again;
    CHECK_THROWS_WITH(restore_checkpoint(changed, again.trainer), matcher);
  };
  refused(serialize_model(run.model, Precision::f32), ContainsSubstring("no state of a training run"));
  CHECK_THROWS_WITH(checkpoint_config({}), ContainsSubstring("no state of a training run"));
  for (const std::string name :
       {"optimizer.mean.model.shared.weight", "optimizer.variance.model.decoder.layers.1.fc2.bias"}) {
    refused(edited(bytes, [&](SafetensorsFile& file) { REQUIRE(file.tensors.erase(name) == 1); }),
            ContainsSubstring(name));
    refused(edited(bytes,
                   [&](SafetensorsFile& file) {
                     TensorEntry& entry = file.tensors.at(name);
                     const Index size = static_cast<Index>(entry.data.size() / sizeof(float));
                     entry.shape = {size, 1};
                   }),
            ContainsSubstring(name) && ContainsSubstring(", 1]"));
  }
  for (const char* progress : {"", "[]", "{}", "{\"step\": 1}", "nonsense",
                               R"({"step":"one","epoch":0,"batch":0,"loss_sum":0,"loss_tokens":0})",
                               R"({"step":1e30,"epoch":0,"batch":0,"loss_sum":0,"loss_tokens":0})",
                               R"({"step":4611686018427387904,"epoch":0,"batch":0,"loss_sum":0,"loss_tokens":0})",
                               R"({"step":1,"epoch":0,"batch":0,"loss_sum":0,"loss_tokens":0,"best_step":1e30})"})
    refused(edited(bytes, [&](SafetensorsFile& file) { file.metadata["progress"] = progress; }),
            ContainsSubstring("[checkpoint]"));
  for (const char* progress : {R"({"step":1,"epoch":0,"batch":-1,"loss_sum":0,"loss_tokens":0})",
                               R"({"step":-1,"epoch":0,"batch":0,"loss_sum":0,"loss_tokens":0})",
                               R"({"step":1,"epoch":0,"batch":1000,"loss_sum":0,"loss_tokens":0})"})
    refused(edited(bytes, [&](SafetensorsFile& file) { file.metadata["progress"] = progress; }),
            ContainsSubstring("[train]"));
}
