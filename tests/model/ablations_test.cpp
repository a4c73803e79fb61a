#include "tests/model/ablations.h"

#include <catch_amalgamated.hpp>

#include "tests/model/reference_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<std::vector<TokenId>> ablation_sources{{4, 5, 6, 7, 8, 3}, {3}, {6, 6, 3}};
const std::vector<std::vector<TokenId>> ablation_targets{{2, 7}, {2, 8, 4, 5, 7}, {2, 4, 4}};

// The largest difference beside the largest number: without a norm, activations are large.
double error(const Eigen::MatrixXd& found, const Eigen::MatrixXd& expected) {
  REQUIRE(found.rows() == expected.rows());
  REQUIRE(found.cols() == expected.cols());
  return (found - expected).cwiseAbs().maxCoeff() / std::max(1.0, expected.cwiseAbs().maxCoeff());
}

// Float's 1.2e-7, some hundred roundings deep.
constexpr double closeness = 1e-5;

std::size_t norms(const Config& config) {
  std::size_t count = 0;
  Transformer(config).visit(
      [&](const ParameterInfo& info, const Parameter&) { count += info.role == Role::norm_weight; });
  return count;
}

}  // namespace

TEST_CASE("A model with a part taken out computes what plain loops compute") {
  const Ablation& ablation = GENERATE(from_range(std::begin(ablations), std::end(ablations)));
  INFO(ablation.what);
  const Config c = changed(ablation);
  const Transformer model = random_model(c, 5);
  const ReferenceModel reference(model);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  const Packed source = packed(ablation_sources), target = packed(ablation_targets);
  const Var memory = model.encode(tape, source.ids, source.spans);
  const auto logits = [&](const Masks& masks) -> Matrix {
    return model.logits(tape, model.decode(tape, target.ids, target.spans, memory, source.spans, nullptr, masks))
        .value();
  };
  Masks in_steps;
  in_steps.later_tokens = true;
  const Matrix as_in_training = logits({}), as_in_search = logits(in_steps);
  for (std::size_t i = 0; i < ablation_sources.size(); ++i) {
    INFO("sentence " << i);
    const auto rows = [&](const Matrix& all, const Spans& spans) -> Eigen::MatrixXd {
      return all.middleRows(spans[i].begin, spans[i].size).cast<double>();
    };
    CHECK(error(rows(memory.value(), source.spans), reference.encode(ablation_sources[i])) < closeness);
    CHECK(error(rows(as_in_training, target.spans),
                reference.logits(ablation_sources[i], ablation_targets[i], c.causal)) < closeness);
    CHECK(error(rows(as_in_search, target.spans),
                reference.logits(ablation_sources[i], ablation_targets[i], /*causal=*/true)) < closeness);
  }
}

TEST_CASE("Steps of a model with a part taken out see the tokens so far") {
  const Ablation& ablation = GENERATE(from_range(std::begin(ablations), std::end(ablations)));
  const Index at_once = GENERATE(1, 3);  // tokens a step
  INFO(ablation.what << ", " << at_once << " tokens at once");
  const Config c = changed(ablation);
  const Transformer model = random_model(c, 6);
  const ReferenceModel reference(model);
  const std::vector<TokenId> source{6, 7, 8, 6, 3}, target{2, 7, 8, 4, 5, 5};
  const Eigen::MatrixXd expected = reference.logits(source, target, /*causal=*/true);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Spans source_span{{0, 5}};
  const Matrix memory = model.encode(tape, source, source_span).value();
  Cache cache(c, 1, 8);
  for (Index at = 0; at < 6; at += at_once) {
    INFO("from token " << at);
    tape.clear();
    const std::vector<TokenId> next(target.begin() + at, target.begin() + at + at_once);
    const Var hidden = model.decode(tape, next, Spans{{0, at_once}}, tape.constant(memory), source_span, &cache);
    CHECK(error(model.logits(tape, hidden).value().cast<double>(), expected.middleRows(at, at_once)) < closeness);
  }
}

TEST_CASE("Packed and rounded weights of narrow heads translate nearly as floats do") {
  Config c = small_config();
  c.d_model = 64;
  c.num_heads = 4;
  c.key_dim = GENERATE(1, 3, 5, 23);  // rows of the products that fill no panel
  CAPTURE(c.key_dim);
  Transformer model(c);
  model.initialize(3);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/false);
  const Packed source = packed(ablation_sources), target = packed(ablation_targets);
  const auto logits = [&]() -> Eigen::MatrixXd {
    const Var memory = model.encode(tape, source.ids, source.spans);
    const Var hidden = model.decode(tape, target.ids, target.spans, memory, source.spans);
    return model.logits(tape, hidden).value().cast<double>();
  };
  const Eigen::MatrixXd exact = logits();
  model.pack();
  CHECK(error(logits(), exact) < closeness);
  model.unpack();
  model.quantize();
  constexpr double int8_limit = 0.06;  // some of the 127 steps; a row in the wrong place makes it about 1
  CHECK(error(logits(), exact) < int8_limit);
}

TEST_CASE("Only norms disappear with the norm, and only keys and queries change their width") {
  Config c = small_config();
  const Index all = Transformer(c).parameter_count();
  CHECK(norms(c) == 2 + 2 * 3);
  c.norm = NormPosition::none;
  CHECK(norms(c) == 0);
  CHECK(Transformer(c).parameter_count() == all - 8 * 2 * 8);
  c.norm = NormPosition::post;
  c.key_dim = 1;  // heads of 4 features had 8 rows for both
  // Five attentions lose 6 of 8 rows of two matrices and their biases.
  CHECK(Transformer(c).parameter_count() == all - 5 * 2 * 6 * (8 + 1));
}

TEST_CASE("Models that cannot be are refused, naming the key") {
  Config c = small_config();
  SECTION("a recurrent decoder without a causal mask") {
    c.decoder_self = DecoderSelf::ssru;
    c.causal = false;
    CHECK_THROWS_WITH(c.check(), ContainsSubstring("causal is false") && ContainsSubstring("ssru"));
  }
  SECTION("rotation of an odd number of features") {
    c.positions = Positions::rotary;
    c.key_dim = 3;
    CHECK_THROWS_WITH(c.check(), ContainsSubstring("key_dim is 3"));
  }
  SECTION("a norm of the embeddings of a model without norms") {
    c.decoder_layers = 0;
    c.embedding_norm = true;
    c.norm = NormPosition::none;
    CHECK_THROWS_WITH(c.check(), ContainsSubstring("embedding_norm"));
  }
  SECTION("keys that no memory could hold") {
    c.d_model = 1 << 14;
    c.num_heads = 2;
    c.key_dim = 1 << 14;
    CHECK_THROWS_WITH(c.check(), ContainsSubstring("num_heads times key_dim"));
  }
}

TEST_CASE("A model without positions cannot tell the order of its source") {
  Config c = small_config();
  c.positions = GENERATE(Positions::none, Positions::integers, Positions::fractions);
  CAPTURE(c.positions);
  const Transformer model = random_model(c, 4);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const auto last_row = [&](const std::vector<TokenId>& source) -> Eigen::MatrixXd {
    const Spans span{{0, static_cast<Index>(source.size())}};
    const std::vector<TokenId> target{2, 7, 8};
    const Var memory = model.encode(tape, source, span);
    return model.logits(tape, model.decode(tape, target, Spans{{0, 3}}, memory, span)).value().row(2).cast<double>();
  };
  const bool is_same = error(last_row({4, 5, 6, 3}), last_row({6, 4, 5, 3})) < closeness;
  CHECK(is_same == (c.positions == Positions::none));
}
