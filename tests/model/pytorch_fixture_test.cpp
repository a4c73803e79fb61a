// To add a case: put a folder of the form of tests/fixtures/pytorch anywhere under tests/fixtures, or set
// WASMFORMER_FIXTURES to a folder that holds some.
#include "tests/model/pytorch_fixture.h"

#include <catch_amalgamated.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ops/cross_entropy.h"
#include "ops/embedding.h"
#include "tasks/translate/batch.h"
#include "tasks/translate/search.h"
#include "train/trainer.h"

using namespace wasmformer;

namespace {

// From the dump's README: about ten times what PyTorch's own float32 differs from its float64.
constexpr double forward_limit = 1e-5, gradient_limit = 2e-6, adam_limit = 5e-6;

// The largest absolute difference of a kind, printed and checked in the end.
class Worst {
 public:
  Worst(std::string kind, double limit) : kind_(std::move(kind)), limit_(limit) {}
  ~Worst() {
    std::cout << "pytorch fixture: " << kind_ << " differs by at most " << worst_ << " (" << compared_
              << " numbers, limit " << limit_ << ")\n";
    INFO(kind_ << ": at " << where_ << " " << actual_ << " instead of " << expected_);
    CHECK(compared_ > 0);
    CHECK(worst_ <= limit_);
  }

  void compare(double actual, double expected, const std::string& where) {
    ++compared_;
    double difference = std::abs(actual - expected);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    if (difference <= worst_) return;
    worst_ = difference, where_ = where, actual_ = actual, expected_ = expected;
  }
  template <class A, class B>
  void compare_all(const A& actual, const B& expected, const std::string& where) {
    INFO(where);
    REQUIRE(shape(actual) == shape(expected));
    for (Index i = 0; i < actual.rows(); ++i)
      for (Index j = 0; j < actual.cols(); ++j)
        compare(actual(i, j), expected(i, j), where + "(" + std::to_string(i) + ", " + std::to_string(j) + ")");
  }

 private:
  std::string kind_, where_ = "nowhere";
  double limit_, worst_ = 0, actual_ = 0, expected_ = 0;
  Index compared_ = 0;
};

struct Fixture {
  explicit Fixture(const std::string& folder)
      : model_file(folder + "/model.safetensors"),
        forward(folder + "/forward.safetensors"),
        max_length(
            std::max({forward.matrix("src").cols(), forward.matrix("tgt_out").cols(), forward.matrix("pe").rows()})),
        model(fixture_model(model_file, fixture_config(model_file, max_length))),
        corpus(fixture_corpus(forward, model.config().pad_id)) {
    std::vector<Index> all(corpus.pairs.size());
    std::iota(all.begin(), all.end(), Index(0));
    batch = pack(corpus, all, model.config().bos_id);
  }

  // Packed rows against [B, L, columns], whose rows of pads stay out.
  void compare_rows(Worst& worst, const std::string& name, ConstView actual, const Spans& spans) const {
    const Matrix expected = forward.matrix(name);
    const Index length = expected.rows() / static_cast<Index>(spans.size());
    for (std::size_t b = 0; b < spans.size(); ++b)
      worst.compare_all(actual.middleRows(spans[b].begin, spans[b].size),
                        expected.middleRows(static_cast<Index>(b) * length, spans[b].size),
                        name + "[" + std::to_string(b) + "]");
  }

  // [heads · queries, keys] of each sentence against [B, heads, L, S].
  void compare_attention(Worst& worst, const std::string& side, const std::string& kind,
                         const std::vector<AttentionRecord>& layers) const {
    const Index heads = model.config().num_heads;
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      const std::vector<Matrix>& probabilities = layers[layer].probabilities;
      const std::string name = side + "." + std::to_string(layer) + "." + kind + ".attn";
      const Matrix expected = forward.matrix(name);
      REQUIRE(probabilities.size() == corpus.pairs.size());
      const Index sentences = static_cast<Index>(corpus.pairs.size()), length = expected.rows() / (sentences * heads);
      for (Index b = 0; b < sentences; ++b) {
        const Matrix& maps = probabilities[static_cast<std::size_t>(b)];
        const Index rows = maps.rows() / heads;
        for (Index head = 0; head < heads; ++head)
          worst.compare_all(maps.middleRows(head * rows, rows),
                            expected.block((b * heads + head) * length, 0, rows, maps.cols()),
                            name + "[" + std::to_string(b) + ", " + std::to_string(head) + "]");
      }
    }
  }

  FixtureFile model_file, forward;
  Index max_length;
  Transformer model;
  Corpus corpus;
  Batch batch;
};

std::vector<std::string> folders() {
  const auto found = pytorch_fixtures();
  INFO("no PyTorch fixture under " << fixtures_path());
  REQUIRE(!found.empty());
  return found;
}

TEST_CASE("The forward pass matches PyTorch") {
  for (const std::string& folder : folders()) {
    INFO(folder);
    Fixture f(folder);
    const Matrix target_in = f.forward.matrix("tgt_in");
    for (std::size_t i = 0; i < f.corpus.pairs.size(); ++i) {
      const Span span = f.batch.target_spans[i];
      for (Index j = 0; j < span.size; ++j)
        REQUIRE(f.batch.target_in[span.begin + j] == target_in(static_cast<Index>(i), j));
    }

    ThreadPool pool(2);
    Tape tape(pool, /*recording=*/false);
    StackRecord encoder, decoder;
    Var memory = f.model.encode(tape, f.batch.source, f.batch.source_spans, {}, &encoder);
    Var hidden = f.model.decode(tape, f.batch.target_in, f.batch.target_spans, memory, f.batch.source_spans, nullptr,
                                {}, &decoder);
    Var logits = f.model.logits(tape, hidden);

    const Matrix positions = f.forward.matrix("pe");
    Worst("positions", forward_limit)
        .compare_all(sinusoidal_positions(positions.rows(), positions.cols()), positions, "pe");
    {
      Worst worst("encoder output", forward_limit);
      f.compare_rows(worst, "encoder_output", memory.value(), f.batch.source_spans);
    }
    {
      Worst worst("attention", forward_limit);
      const Config& c = f.model.config();
      REQUIRE(encoder.self_attention.size() == static_cast<std::size_t>(c.encoder_layers));
      REQUIRE(decoder.self_attention.size() == static_cast<std::size_t>(c.decoder_layers));
      REQUIRE(decoder.cross_attention.size() == decoder.self_attention.size());
      f.compare_attention(worst, "encoder", "self", encoder.self_attention);
      f.compare_attention(worst, "decoder", "self", decoder.self_attention);
      f.compare_attention(worst, "decoder", "cross", decoder.cross_attention);
    }
    {
      Worst worst("logits", forward_limit);
      f.compare_rows(worst, "logits", logits.value(), f.batch.target_spans);
    }
    const CrossEntropy result = cross_entropy(tape, logits, f.batch.target_out, f.model_file.number("label_smoothing"));
    Worst worst("loss", forward_limit);
    worst.compare(result.loss.value()(0, 0), f.forward.matrix("loss")(0, 0), "loss");
    worst.compare(result.nll, f.forward.matrix("nll")(0, 0), "nll");
  }
}

TEST_CASE("Every layer matches PyTorch") {
  for (const std::string& folder : folders()) {
    INFO(folder);
    Fixture f(folder);
    ThreadPool pool;
    Tape tape(pool, /*recording=*/false);
    StackRecord encoder, decoder;
    Var memory = f.model.encode(tape, f.batch.source, f.batch.source_spans, {}, &encoder);
    f.model.decode(tape, f.batch.target_in, f.batch.target_spans, memory, f.batch.source_spans, nullptr, {}, &decoder);
    Worst worst("layers", forward_limit);
    const auto compare = [&](const std::string& side, const StackRecord& record, std::size_t sublayers,
                             const Spans& spans) {
      const Matrix embedding = record.token_embedding.value() + record.positions.value();
      f.compare_rows(worst, side + ".embed", ConstView(embedding.data(), embedding.rows(), embedding.cols()), spans);
      const std::size_t layers = record.self_attention.size();
      REQUIRE(record.residuals.size() == layers * sublayers);
      for (std::size_t layer = 0; layer < layers; ++layer)
        f.compare_rows(worst, side + "." + std::to_string(layer) + ".out",
                       record.residuals[(layer + 1) * sublayers - 1].value(), spans);
    };
    compare("encoder", encoder, 2, f.batch.source_spans);
    compare("decoder", decoder, 3, f.batch.target_spans);
  }
}

TEST_CASE("Backward matches PyTorch's gradient of every weight") {
  for (const std::string& folder : folders()) {
    INFO(folder);
    Fixture f(folder);
    const FixtureFile gradients(folder + "/grads.safetensors");
    f.model.enable_gradients();
    ThreadPool pool(2);
    Tape tape(pool, /*recording=*/true);
    Var memory = f.model.encode(tape, f.batch.source, f.batch.source_spans);
    Var hidden = f.model.decode(tape, f.batch.target_in, f.batch.target_spans, memory, f.batch.source_spans);
    Var loss =
        cross_entropy(tape, f.model.logits(tape, hidden), f.batch.target_out, f.model_file.number("label_smoothing"))
            .loss;
    tape.backward(loss);

    Worst worst("gradients", gradient_limit);
    std::size_t compared = 0;
    f.model.visit([&](const ParameterInfo& info, const Parameter& p) {
      worst.compare_all(p.gradient, gradients.matrix(fixture_name(info.name)), info.name);
      ++compared;
    });
    CHECK(compared == f.model_file.parsed.tensors.size());
  }
}

TEST_CASE("Training steps match PyTorch's weights, losses and rates") {
  for (const std::string& folder : folders()) {
    INFO(folder);
    Fixture f(folder);
    const FixtureFile adam(folder + "/adam.safetensors");
    TrainingConfig config;
    config.learning_rate = adam.number("noam_factor");
    config.warmup_steps = static_cast<Index>(adam.number("noam_warmup"));
    config.beta1 = adam.number("beta1");
    config.beta2 = adam.number("beta2");
    config.epsilon = adam.number("eps");
    config.label_smoothing = adam.number("label_smoothing");
    config.batch_tokens = static_cast<Index>(std::max(f.batch.source.size(), f.batch.target_out.size()));
    ThreadPool pool(2);
    Trainer trainer(f.model, f.corpus, config, pool);
    REQUIRE(trainer.batches_per_epoch() == 1);

    const Matrix rates = adam.matrix("lr"), losses = adam.matrix("losses");
    Worst weights("weights after steps", adam_limit), loss("losses of steps", forward_limit);
    for (Index step = 1; step <= rates.cols(); ++step) {
      const StepReport report = trainer.step();
      loss.compare(report.loss, losses(0, step - 1), "step " + std::to_string(step));
      CHECK(report.learning_rate == Catch::Approx(rates(0, step - 1)).epsilon(1e-6));
      f.model.visit([&](const ParameterInfo& info, const Parameter& p) {
        // The true gradient is 0; Adam turns the rounding errors of any float32 program into whole steps.
        if (info.name.ends_with("k_proj.bias")) return;
        const std::string stored = "step" + std::to_string(step) + "." + fixture_name(info.name);
        weights.compare_all(p.value, adam.matrix(stored), stored);
      });
    }
    loss.compare(trainer.step().loss, losses(0, rates.cols()), "after the last step");
  }
}

TEST_CASE("Greedy and beam search match PyTorch's tokens and scores") {
  for (const std::string& folder : folders()) {
    INFO(folder);
    const FixtureFile file(folder + "/decode_model.safetensors");
    const auto cases = nlohmann::json::parse(read_file(folder + "/decode.json"));
    REQUIRE(!cases.empty());
    Index longest = 1;
    for (const auto& item : cases)
      longest = std::max({longest, item["max_new_tokens"].get<Index>(), static_cast<Index>(item["src"].size())});
    Transformer model = fixture_model(file, fixture_config(file, longest));

    ThreadPool pool(2);
    // A score sums a log-probability a token.
    Worst worst("log-probabilities of found tokens", forward_limit * static_cast<double>(longest));
    for (const auto& item : cases) {
      const SearchInput input{item["src"], {}, item["max_new_tokens"]};
      INFO("source " << item["src"]);
      Search greedy(model, pool, {input}, {.beam_size = 1});
      while (greedy.step()) {
      }
      REQUIRE(greedy.hypotheses(0).size() == 1);
      CHECK(greedy.hypotheses(0)[0].ids == item["greedy"].get<std::vector<TokenId>>());
      worst.compare(greedy.hypotheses(0)[0].sum, item["greedy_logprob"], "greedy");

      Search beam(model, pool, {input}, {.beam_size = item["beam"], .length_penalty = item["alpha"]});
      while (beam.step()) {
      }
      const auto found = beam.hypotheses(0);
      const auto& expected = item["hypotheses"];
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].ids == expected[i]["ids"].get<std::vector<TokenId>>());
        worst.compare(found[i].score, expected[i]["score"], "hypothesis " + std::to_string(i));
      }
    }
  }
}

}  // namespace
