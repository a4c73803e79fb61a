// One training step of encoders with each kind of head, against the numbers of tests/fixtures/pytorch/encoder.py.
#include <catch_amalgamated.hpp>

#include "tasks/annotate/labels.h"
#include "tasks/mask/mask_task.h"
#include "tests/model/pytorch_fixture.h"
#include "train/trainer.h"

using namespace wasmformer;

namespace {

constexpr double loss_limit = 1e-5, weight_limit = 5e-6;

const FixtureFile& fixture() {
  static const FixtureFile file(own_fixtures_path() + "/pytorch/encoder.safetensors");
  return file;
}

// A model of the script, with the weights from before the step.
Transformer encoder(const std::string& kind, Index classes, Index tags) {
  Config c;
  c.source_vocab_size = c.target_vocab_size = 20;
  c.d_model = 8, c.num_heads = 2, c.ffn_dim = 12, c.encoder_layers = 2, c.decoder_layers = 0, c.max_length = 16;
  c.dropout = 0;
  c.classes = classes, c.tags = tags;
  if (kind == "bert") {
    c.positions = Positions::learned, c.activation = Activation::gelu, c.pooling = Pooling::first;
    c.pooler = Pooler::tanh, c.embedding_norm = true, c.scale_embedding = false;
  }
  Transformer model(c);
  model.visit([&](const ParameterInfo& info, Parameter& p) {
    p.value = fixture().matrix(kind + ".before." + info.name);
    REQUIRE(p.value.rows() == p.rows);
    REQUIRE(p.value.cols() == p.cols);
  });
  return model;
}

TrainingConfig training() {
  TrainingConfig t;
  t.schedule = Schedule::constant, t.warmup_steps = 0, t.learning_rate = 0.01;
  t.beta1 = 0.9, t.beta2 = 0.98, t.epsilon = 1e-3;
  t.label_smoothing = 0.1, t.tag_weight = 0.5;
  return t;
}

// The texts of the script, with what the model's heads are to find.
AnnotatedExamples examples(const Config& c) {
  AnnotatedExamples examples;
  examples.all = {{{2, 4, 5, 6, 3}, {0, 1, 3}, {1, 2, 3}, {2}},
                  {{2, 7, 8, 3}, {2, 0}, {1, 2}, {0}},
                  {{2, 9, 4, 11, 12, 13, 3}, {1, 1, 2}, {1, 3, 5}, {2}}};
  for (AnnotatedExamples::Example& example : examples.all) {
    if (c.classes == 0) example.classes.clear();
    if (c.tags > 0) continue;
    example.tags.clear();
    example.words.clear();
  }
  return examples;
}

void check_step(const std::string& kind, const Transformer& model, double loss) {
  CHECK(std::abs(loss - static_cast<double>(fixture().matrix(kind + ".loss")(0, 0))) < loss_limit);
  model.visit([&](const ParameterInfo& info, const Parameter& p) {
    INFO(info.name);
    const Matrix right = fixture().matrix(kind + ".after." + info.name);
    CHECK((p.value - right).cwiseAbs().maxCoeff() < weight_limit);
    const Matrix before = fixture().matrix(kind + ".before." + info.name);
    // The true gradient is 0: a softmax does not see what is added to all of its scores.
    if (!info.name.ends_with("k_proj.bias")) CHECK((right - before).cwiseAbs().maxCoeff() > 100 * weight_limit);
  });
}

}  // namespace

TEST_CASE("A training step of encoders that classify, tag or do both matches PyTorch's loss and weights") {
  const auto [kind, classes, tags] =
      GENERATE(table<std::string, Index, Index>({{"classify", 3, 0}, {"tag", 0, 4}, {"both", 3, 4}, {"bert", 3, 4}}));
  INFO(kind);
  Transformer model = encoder(kind, classes, tags);
  const AnnotatedExamples texts = examples(model.config());
  ThreadPool pool(2);
  Trainer trainer(model, texts, training(), pool);
  REQUIRE(trainer.batches_per_epoch() == 1);
  check_step(kind, model, trainer.step().loss);
}

TEST_CASE("A training step on masked tokens matches PyTorch's loss and weights") {
  Transformer model = encoder("masked", 0, 0);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/true);
  const TrainingConfig config = training();
  model.enable_gradients();
  // The masks of the script instead of drawn ones.
  MaskedBatch batch(model, config);
  for (const auto& example : examples(model.config()).all) {
    batch.source_spans.push_back({static_cast<Index>(batch.source.size()), static_cast<Index>(example.source.size())});
    batch.source.insert(batch.source.end(), example.source.begin(), example.source.end());
  }
  const std::vector<TokenId> shown{0, 15, 0, 13};
  batch.masked = {2, 6, 12, 14};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    TokenId& token = batch.source[batch.masked[i]];
    batch.hidden.push_back(std::exchange(token, shown[i]));
  }
  const Var mean = batch.loss(tape, batch.totals(), config.label_smoothing).loss;
  tape.backward(mean);
  std::vector<Parameter*> parameters;
  model.visit([&](const ParameterInfo&, Parameter& p) { parameters.push_back(&p); });
  Optimizer(parameters, config).step(pool, 1, config.learning_rate);
  check_step("masked", model, mean.value()(0, 0));
}
