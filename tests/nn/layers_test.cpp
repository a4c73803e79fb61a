#include "nn/layers.h"

#include <catch_amalgamated.hpp>

#include "tests/ops/random_matrix.h"

using namespace wasmformer;

namespace {

void set(Linear& linear, Matrix weight, Matrix bias) {
  linear.weight.value = std::move(weight);
  linear.bias.value = std::move(bias);
}

}  // namespace

TEST_CASE("A feed-forward sublayer is a linear layer, the activation, and a linear layer") {
  FeedForward ffn(2, 3, Activation::relu, 0);
  set(ffn.fc1, (Matrix(3, 2) << 1, 0, 0, 1, -1, -1).finished(), (Matrix(1, 3) << 0, -5, 1).finished());
  set(ffn.fc2, (Matrix(2, 3) << 1, 1, 1, 2, 0, 0).finished(), (Matrix(1, 2) << 0.5, 0).finished());
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = (Matrix(2, 2) << 3, 4, -2, 7).finished();
  // Inside: relu(3, -1, -6) and relu(-2, 2, -4).
  CHECK(ffn(tape, tape.constant(x)).value() == (Matrix(2, 2) << 3.5, 6, 2.5, 0).finished());
}

TEST_CASE("Multi-head attention over one key is its value through the output projection") {
  MultiHeadAttention attention({.d_model = 2, .heads = 2, .key_dim = 1, .kind = AttentionScore::scaled_dot}, 0);
  set(attention.q_proj, random_matrix(2, 2, 1), random_matrix(1, 2, 2));
  set(attention.out_proj, (Matrix(2, 2) << 0, 1, 2, 0).finished(), (Matrix(1, 2) << 10, 20).finished());
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = random_matrix(3, 2, 3), keys = random_matrix(1, 2, 4), values = (Matrix(1, 2) << 3, 4).finished();
  AttentionRecord record;
  const Spans queries = spans_of({3}), key = spans_of({1});
  AttentionCall call{
      .query_spans = queries, .key_spans = key, .key_rows = {}, .causal = false, .masked_heads = {}, .record = &record};
  const auto result = [&] {
    return attention(tape, tape.constant(x), tape.constant(keys), tape.constant(values), call).value();
  };
  CHECK(result() == (Matrix(3, 2) << 14, 26, 14, 26, 14, 26).finished());
  REQUIRE(record.probabilities.size() == 1);
  CHECK(record.probabilities[0] == Matrix::Ones(2 * 3, 1));  // two heads
  CHECK(record.output.value() == (Matrix(3, 2) << 3, 4, 3, 4, 3, 4).finished());

  const std::vector<AttentionHead> second{{AttentionHead::cross, 0, 1}};
  call.masked_heads = second;
  CHECK(result() == (Matrix(3, 2) << 10, 26, 10, 26, 10, 26).finished());
  CHECK(record.probabilities[0] == Matrix::Ones(2 * 3, 1));
  CHECK(record.output.value() == (Matrix(3, 2) << 3, 0, 3, 0, 3, 0).finished());
}

TEST_CASE("A layer norm starts as plain normalization and uses its own epsilon") {
  LayerNorm norm(2, 3.0);
  LayerNorm::visit(norm, {Stack::encoder, no_layer, Module::output_norm, "norm"},
                   [](const ParameterInfo& info, Parameter& p) {
                     p.value.setConstant(p.rows, p.cols, info.initializer == Initializer::ones ? 1 : 0);
                   });
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Matrix x = (Matrix(1, 2) << 4, 6).finished();  // mean 5, variance 1: divided by √(1 + 3)
  CHECK(norm(tape, tape.constant(x)).value() == (Matrix(1, 2) << -0.5, 0.5).finished());
}

TEST_CASE("Layers name their parameters under the given path") {
  std::vector<std::string> names;
  const auto note = [&](const ParameterInfo& info, const Parameter&) { names.push_back(info.name); };
  const Linear linear(2, 3);
  const LayerNorm norm(2, 1);
  const ParameterScope scope{Stack::encoder, no_layer, Module::feed_forward, "a"};
  Linear::visit(linear, scope, {Role::inner_weight, Role::inner_bias}, note);
  LayerNorm::visit(norm, {Stack::encoder, 2, Module::self_attention, "b.c"}, note);
  CHECK(names == std::vector<std::string>{"a.weight", "a.bias", "b.c.weight", "b.c.bias"});
}
