// The paper in one file (src/micro/transformer.cpp) against the engine, both in double.
#include <catch_amalgamated.hpp>

#include "model/transformer.h"
#include "ops/cross_entropy.h"
#include "ops/weight_update.h"
#include "tests/model/small_model.h"

#define main micro_main
#include "src/micro/transformer.cpp"
#undef main

namespace engine = wasmformer;
using engine::Index, engine::Matrix, engine::Role, engine::Stack;

namespace {

constexpr double tolerance = 1e-6;

// The numbers of a node: its value or its gradient.
using Numbers = std::vector<double> Node::*;

Matrix numbers_in(Var x, Numbers numbers) {
  return Eigen::Map<const Matrix>((x.node->*numbers).data(), x.rows(), x.cols());
}

// A projection of all heads, one below the other, [d_model, d_model], as the engine has them.
Matrix stacked(const std::vector<Head>& heads, Var Head::*projection, Numbers numbers) {
  Matrix all(d_model, d_model);
  for (std::size_t i = 0; i < heads.size(); ++i)
    all.middleRows(static_cast<Index>(i) * d_k, d_k) = numbers_in(heads[i].*projection, numbers).transpose();
  return all;
}

Matrix of_attention(const MultiHeadAttention& attention, Role role, Numbers numbers) {
  if (role == Role::query_weight) return stacked(attention.heads, &Head::W_Q, numbers);
  if (role == Role::key_weight) return stacked(attention.heads, &Head::W_K, numbers);
  if (role == Role::value_weight) return stacked(attention.heads, &Head::W_V, numbers);
  if (role == Role::output_weight) return numbers_in(attention.W_O, numbers).transpose();
  return Matrix::Zero(1, d_model);  // the paper's projections have no biases
}

Matrix of_feed_forward(const FeedForward& ffn, Role role, Numbers numbers) {
  if (role == Role::inner_weight) return numbers_in(ffn.W_1, numbers).transpose();
  if (role == Role::inner_bias) return numbers_in(ffn.b_1, numbers);
  if (role == Role::outer_weight) return numbers_in(ffn.W_2, numbers).transpose();
  return numbers_in(ffn.b_2, numbers);
}

bool is_of_norm(Role role) { return role == Role::norm_weight || role == Role::norm_bias; }

Matrix of_norm(const LayerNorm& norm, Role role, Numbers numbers) {
  return numbers_in(role == Role::norm_weight ? norm.gamma : norm.beta, numbers);
}

Matrix of_layer(const EncoderLayer& layer, const engine::ParameterInfo& info, Numbers numbers) {
  const bool is_attention = info.module == engine::Module::self_attention;
  if (is_of_norm(info.role)) return of_norm(is_attention ? layer.norm_1 : layer.norm_2, info.role, numbers);
  return is_attention ? of_attention(layer.self_attention, info.role, numbers)
                      : of_feed_forward(layer.feed_forward, info.role, numbers);
}

Matrix of_layer(const DecoderLayer& layer, const engine::ParameterInfo& info, Numbers numbers) {
  const bool is_norm = is_of_norm(info.role);
  switch (info.module) {
    case engine::Module::self_attention:
      return is_norm ? of_norm(layer.norm_1, info.role, numbers)
                     : of_attention(layer.self_attention, info.role, numbers);
    case engine::Module::cross_attention:
      return is_norm ? of_norm(layer.norm_2, info.role, numbers)
                     : of_attention(layer.cross_attention, info.role, numbers);
    default:
      return is_norm ? of_norm(layer.norm_3, info.role, numbers)
                     : of_feed_forward(layer.feed_forward, info.role, numbers);
  }
}

// What one of the engine's parameters is in the file, in the engine's shape.
Matrix numbers_of(const Transformer& model, const engine::ParameterInfo& info, Numbers numbers) {
  if (!info.is_in_layer()) return numbers_in(model.E, numbers);
  const auto layer = static_cast<std::size_t>(info.layer);
  return info.stack == Stack::encoder ? of_layer(model.encoder.at(layer), info, numbers)
                                      : of_layer(model.decoder.at(layer), info, numbers);
}

bool is_left_out_by_the_paper(Role role) {
  return role == Role::query_bias || role == Role::key_bias || role == Role::value_bias || role == Role::output_bias;
}

// Norms and biases too are away from their ones and zeros, where their gradients may vanish.
Transformer random_micro_model(std::size_t encoder_layers, std::size_t decoder_layers) {
  parameters.clear();
  Transformer model;
  model.encoder.resize(encoder_layers);
  model.decoder.resize(decoder_layers);
  for (Node& p : parameters)
    for (double& x : p.value) x += 0.3 * (2 * uniform() - 1);
  return model;
}

// The engine with the settings of the paper and the weights of the file.
engine::Transformer engine_model(const Transformer& model) {
  engine::Config c;
  c.source_vocab_size = c.target_vocab_size = vocabulary;
  c.d_model = d_model, c.num_heads = h, c.ffn_dim = d_ff;
  c.encoder_layers = static_cast<Index>(model.encoder.size());
  c.decoder_layers = static_cast<Index>(model.decoder.size());
  c.max_length = 32;
  c.norm_epsilon = norm_epsilon;
  c.output_bias = false;
  c.dropout = 0;
  c.bos_id = begin_token, c.eos_id = end_token;
  engine::Transformer result(c);
  result.visit([&](const engine::ParameterInfo& info, engine::Parameter& p) {
    p.value = numbers_of(model, info, &Node::value);
    REQUIRE((p.value.rows() == p.rows && p.value.cols() == p.cols));
  });
  result.enable_gradients();
  return result;
}

// The largest difference, relative to the largest number.
double difference(const Matrix& actual, const Matrix& expected) {
  return (actual - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

// Of each row.
Matrix softmax_of(const Matrix& logits) {
  Matrix p = logits.array().exp();
  p.array().colwise() /= p.rowwise().sum().array().eval();
  return p;
}

const std::vector<Pair> batch = {
    {{5, 9, 27, 4, 1}, {4, 27, 9, 5, 1}}, {{2, 1}, {2, 1}}, {{8, 8, 3, 20, 11, 6, 7, 1}, {7, 6, 11, 20, 3, 8, 8, 1}}};

// A batch as the engine has it: sentences one after the other, and the decoder's input shifted right.
struct PackedBatch {
  engine::Packed source, target, expected;

  explicit PackedBatch(const std::vector<Pair>& pairs) {
    std::vector<Tokens> sources, targets, all_expected;
    for (const auto& [from, to] : pairs) {
      sources.push_back(from);
      all_expected.push_back(to);
      Tokens shifted = to;
      std::rotate(shifted.begin(), shifted.end() - 1, shifted.end());
      shifted[0] = begin_token;
      targets.push_back(shifted);
    }
    source = engine::packed(sources), target = engine::packed(targets), expected = engine::packed(all_expected);
  }
};

}  // namespace

TEST_CASE("The paper in one file gives the outputs of the engine") {
  const Transformer model = random_micro_model(2, 3);
  const engine::Transformer same = engine_model(model);
  const PackedBatch packed(batch);
  engine::ThreadPool pool(1);
  engine::Tape engine_tape(pool, /*recording=*/false);
  const engine::Var memory = same.encode(engine_tape, packed.source.ids, packed.source.spans);
  const engine::Var hidden =
      same.decode(engine_tape, packed.target.ids, packed.target.spans, memory, packed.source.spans);
  const Matrix logits = same.logits(engine_tape, hidden).value();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    CAPTURE(i);
    const engine::Span target = packed.target.spans[i], source = packed.source.spans[i];
    const auto first = packed.target.ids.begin() + target.begin;
    const Var own_memory = model.encode(batch[i].first);
    const Var p = model.decode({first, first + target.size}, own_memory);
    CHECK(difference(numbers_in(own_memory, &Node::value), memory.value().middleRows(source.begin, source.size)) <
          tolerance);
    CHECK(difference(numbers_in(p, &Node::value), softmax_of(logits.middleRows(target.begin, target.size))) <
          tolerance);
    tape.clear();
  }
}

TEST_CASE("The paper in one file gives the loss and the gradients of the engine") {
  const Transformer model = random_micro_model(2, 3);
  engine::Transformer same = engine_model(model);
  const PackedBatch packed(batch);
  engine::ThreadPool pool(1);
  engine::Tape engine_tape(pool, /*recording=*/true);
  const engine::Var memory = same.encode(engine_tape, packed.source.ids, packed.source.spans);
  const engine::Var hidden =
      same.decode(engine_tape, packed.target.ids, packed.target.spans, memory, packed.source.spans);
  const engine::Var loss =
      engine::cross_entropy(engine_tape, same.logits(engine_tape, hidden), packed.expected.ids, epsilon_ls).loss;
  const double expected_loss = loss.value()(0, 0);
  engine_tape.backward(loss);

  CHECK(std::abs(learn(model, batch) / expected_loss - 1) < tolerance);
  int compared = 0;
  same.visit([&](const engine::ParameterInfo& info, const engine::Parameter& p) {
    if (is_left_out_by_the_paper(info.role)) return;
    CAPTURE(info.name);
    CHECK(p.gradient.cwiseAbs().maxCoeff() > 1e-4);
    CHECK(difference(numbers_of(model, info, &Node::gradient), p.gradient) < tolerance);
    ++compared;
  });
  CHECK(compared == 1 + 2 * (4 + 4 + 2 * 2) + 3 * (2 * 4 + 4 + 3 * 2));
}

TEST_CASE("The gradients of the paper in one file match central differences with dropout") {
  const Transformer model = random_micro_model(1, 1);
  P_drop = 0.4;
  const auto loss = [&] {
    generator.seed(7);
    return learn(model, batch);
  };
  const double dropped = loss();
  std::vector<std::vector<double>> gradients;
  for (Node& p : parameters) gradients.push_back(p.gradient);
  double worst = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    constexpr double step = 1e-5;
    const std::size_t at = parameters[i].value.size() / 2;
    double& x = parameters[i].value[at];
    const double value = x;
    x = value + step;
    const double above = loss();
    x = value - step;
    const double below = loss();
    x = value;
    worst = std::max(worst, std::abs((above - below) / (2 * step) - gradients[i][at]));
  }
  CHECK(worst < 1e-7);
  P_drop = 0;
  CHECK(std::abs(loss() - dropped) > 0.01);
}

TEST_CASE("Adam in the paper's one file is the engine's") {
  parameters.clear();
  const Var weights = weight(3, 4);
  Matrix expected = numbers_in(weights, &Node::value), mean = Matrix::Zero(3, 4), variance = Matrix::Zero(3, 4);
  engine::ThreadPool pool(1);
  for (int t = 1; t <= 5; ++t) {
    Matrix gradient = engine::random_matrix(3, 4, static_cast<std::uint64_t>(t));
    std::copy_n(gradient.data(), gradient.size(), weights.node->gradient.begin());
    adam(t, 0.1);
    const auto span = [](Matrix& m) { return std::span<double>(m.data(), static_cast<std::size_t>(m.size())); };
    engine::adam_update(
        pool, {.weights = span(expected), .gradient = span(gradient), .mean = span(mean), .variance = span(variance)},
        {.rate = 0.1, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-9, .t = static_cast<double>(t)});
  }
  CHECK(difference(numbers_in(weights, &Node::value), expected) < tolerance);
  CHECK(numbers_in(weights, &Node::gradient).isZero(0));
}
