#include "tasks/output_sample.h"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/model/small_model.h"

using namespace wasmformer;
using Catch::Approx;

TEST_CASE("A sample has all targets, and others that training predicts, none twice") {
  std::vector<Index> counts(50, 2);
  counts[7] = counts[20] = 0;  // a target that training does not know, such as one of another text, and another piece
  const OutputSampler sampler(counts, 12);
  const std::vector<TokenId> targets{9, 3, 9, 7, 40};
  std::set<TokenId> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const OutputSample sample = sampler.draw(targets, seed);
    REQUIRE(sample.pieces.size() == 12);
    REQUIRE(sample.offsets.size() == 12);
    REQUIRE(sample.wanted == 4);
    CHECK(
        (std::vector<TokenId>(sample.pieces.begin(), sample.pieces.begin() + 4) == std::vector<TokenId>{3, 7, 9, 40}));
    CHECK(std::set<TokenId>(sample.pieces.begin(), sample.pieces.end()).size() == 12);
    for (std::size_t i = 0; i < 12; ++i) CHECK(sample.offsets[i] == Approx(i < 4 ? 0 : std::log(45.0 / 8)));
    seen.insert(sample.pieces.begin(), sample.pieces.end());
  }
  CHECK(seen.size() == 49);
  CHECK(!seen.contains(20));
  CHECK(sampler.draw(targets, 5).pieces == sampler.draw(targets, 5).pieces);
  CHECK(sampler.draw(targets, 5).pieces != sampler.draw(targets, 6).pieces);
}

TEST_CASE("More targets than a sample's size are all in it, and a size above the vocabulary takes all") {
  const std::vector<Index> counts(6, 1);
  const std::vector<TokenId> targets{0, 1, 2, 3};
  const OutputSample few = OutputSampler(counts, 2).draw(targets, 1);
  CHECK(few.pieces == targets);
  CHECK(few.offsets == std::vector<Scalar>(4, 0));
  const OutputSample all = OutputSampler(counts, 100).draw(targets, 1);
  CHECK(all.pieces.size() == 6);
  CHECK(all.offsets == std::vector<Scalar>(6, 0));
}

TEST_CASE("The sum of exponentials over a sample is that over all, on the mean") {
  const Matrix scores = random_matrix(1, 40, 3) * 2;
  const std::vector<Index> counts(40, 1);
  const OutputSampler sampler(counts, 10);
  const double whole = static_cast<double>(scores.array().exp().sum());
  double sum = 0;
  constexpr int draws = 4000;
  for (int seed = 0; seed < draws; ++seed) {
    const OutputSample sample = sampler.draw(std::vector<TokenId>{4, 30}, static_cast<std::uint64_t>(seed));
    for (std::size_t i = 0; i < sample.pieces.size(); ++i)
      sum += std::exp(static_cast<double>(scores(0, sample.pieces[i]) + sample.offsets[i]));
  }
  CHECK(sum / draws == Approx(whole).epsilon(0.02));  // about three standard errors
}

TEST_CASE("A sample of all pieces has the loss and the gradients of the whole vocabulary") {
  Config c = small_config();
  c.tie_embeddings = GENERATE(TieEmbeddings::all, TieEmbeddings::none);
  c.output_bias = GENERATE(true, false);
  const double smoothing = GENERATE(0.0, 0.1);
  const OutputSample all = OutputSampler(std::vector<Index>(9, 1), 9).draw(std::vector<TokenId>{4, 8}, 1);
  REQUIRE(all.pieces.size() == 9);
  const std::vector<TokenId> targets{8, 4, 8, 8};
  ThreadPool pool;
  const auto run = [&](const OutputSample* sample) {
    Transformer model = random_model(c, 3);
    model.enable_gradients();
    Tape tape(pool, /*recording=*/true);
    const Matrix states = random_matrix(4, c.d_model, 7);
    Var hidden = tape.variable(4, c.d_model, /*wants_gradient=*/true);
    hidden.mutable_value() = states;
    const CrossEntropy found = loss_of_pieces(tape, model, hidden, targets, sample, smoothing, 6);
    std::vector<Matrix> numbers{Matrix::Constant(1, 1, found.loss.value()(0, 0)),
                                Matrix::Constant(1, 1, static_cast<Scalar>(found.nll))};
    tape.backward(found.loss);
    numbers.push_back(hidden.gradient());
    model.visit([&](const ParameterInfo&, Parameter& p) { numbers.push_back(p.gradient); });
    return numbers;
  };
  const auto whole = run(nullptr), sampled = run(&all);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK((whole[i] - sampled[i]).cwiseAbs().maxCoeff() < 1e-6);
}
