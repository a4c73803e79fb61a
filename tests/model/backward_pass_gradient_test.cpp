// The gradients that figure 1 shows, beside central differences: outputs of boxes are changed on their way into the
// product that reads them first, so that all their later readers see the change too.
#include <algorithm>
#include <catch_amalgamated.hpp>
#include <cmath>
#include <map>
#include <string>

#include "model/backward_pass.h"
#include "tests/model/small_model.h"

using namespace wasmformer;

namespace {

// The error of a difference is about step² (truncation) plus 1e-16 / step (rounding); the norms are stored as floats.
constexpr double difference = 1e-5, limit = 1e-6;

const std::vector<TokenId> source{4, 5, 6, 3}, target{7, 8, 4, 3};

using Parameters = std::map<std::string, Parameter*>;
Parameters parameters_of(Transformer& model) {
  Parameters all;
  model.visit([&](const ParameterInfo& info, Parameter& p) { all[info.name] = &p; });
  return all;
}

const BoxGradient& box_of(const BackwardPass& pass, Stack stack, Index layer, FigurePart part) {
  for (const BoxGradient& box : pass.boxes)
    if (box.stack == stack && box.layer == layer && box.part == part) return box;
  FAIL("there is no such box");
  return pass.boxes.front();
}

struct Element {
  Index row, column;
};

// Products that read the same rows; which comes first is up to the compiler.
using Readers = std::vector<const Parameter*>;

// The derivative of the loss by an element of what the first of these products reads.
double derivative(Transformer& model, Tape& tape, const Readers& readers, Element at) {
  const auto loss = [&](double change) {
    bool is_changed = false;
    const Tape::Observer observer = [&](const Parameter& read, ConstView x) {
      if (is_changed || std::find(readers.begin(), readers.end(), &read) == readers.end()) return;
      const_cast<Scalar*>(x.data())[at.row * x.cols() + at.column] += change;
      is_changed = true;
    };
    tape.observe(&observer);
    const double result = backward_pass(model, tape, source, target).loss;
    tape.observe(nullptr);
    REQUIRE(is_changed);
    return result;
  };
  return (loss(difference) - loss(-difference)) / (2 * difference);
}

// The norm of the derivatives by some columns of a row.
double norm_of(Transformer& model, Tape& tape, const Readers& readers, Index row, Span columns) {
  double squares = 0;
  for (Index c = columns.begin; c < columns.end(); ++c)
    squares += std::pow(derivative(model, tape, readers, {row, c}), 2);
  return std::sqrt(squares);
}

void check_near(double found, double expected) { CHECK(std::abs(found - expected) <= limit * std::max(1.0, expected)); }

// A box, and a product that reads its output.
struct ReadBox {
  Stack stack;
  Index layer;
  FigurePart part;
  const char* weight;
};

// The product, and for keys those that read the same: values and, in self-attention, queries.
Readers readers_of(Transformer& model, const std::string& name) {
  const Parameters parameters = parameters_of(model);
  Readers readers{parameters.at(name)};
  const std::string keys = "k_proj.weight";
  if (!name.ends_with(keys)) return readers;
  const std::string module = name.substr(0, name.size() - keys.size());
  readers.push_back(parameters.at(module + "v_proj.weight"));
  if (module.ends_with("self_attn.")) readers.push_back(parameters.at(module + "q_proj.weight"));
  return readers;
}

void check_tokens(Transformer& model, Tape& tape, const BackwardPass& pass, const ReadBox& read) {
  const auto& [stack, layer, part, name] = read;
  INFO("the box that " << name << " reads");
  const BoxGradient& box = box_of(pass, stack, layer, part);
  REQUIRE(box.tokens.size() == (stack == Stack::encoder ? source.size() : target.size()));
  double squares = 0;
  for (std::size_t i = 0; i < box.tokens.size(); ++i) {
    const double expected = norm_of(model, tape, readers_of(model, name), static_cast<Index>(i), {0, 8});
    check_near(static_cast<double>(box.tokens[i]), expected);
    squares += expected * expected;
  }
  check_near(box.norm, std::sqrt(squares));
}

Transformer learning_model(Config config) {
  config.dropout = config.attention_dropout = config.activation_dropout = 0;
  Transformer model = random_model(config, 3);
  model.enable_gradients();
  return model;
}

}  // namespace

TEST_CASE("The gradient of each token in boxes after a norm matches central differences") {
  Transformer model = learning_model(small_config());
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const BackwardPass pass = backward_pass(model, tape, source, target);
  const ReadBox boxes[] = {
      {Stack::encoder, no_layer, FigurePart::embedding, "model.encoder.layers.0.self_attn.k_proj.weight"},
      {Stack::encoder, 0, FigurePart::self_attention_norm, "model.encoder.layers.0.fc1.weight"},
      {Stack::encoder, 0, FigurePart::feed_forward_norm, "model.decoder.layers.0.encoder_attn.k_proj.weight"},
      {Stack::decoder, no_layer, FigurePart::embedding, "model.decoder.layers.0.self_attn.k_proj.weight"},
      {Stack::decoder, 0, FigurePart::self_attention_norm, "model.decoder.layers.0.encoder_attn.q_proj.weight"},
      {Stack::decoder, 0, FigurePart::cross_attention_norm, "model.decoder.layers.0.fc1.weight"},
      {Stack::decoder, 0, FigurePart::feed_forward_norm, "model.decoder.layers.1.self_attn.k_proj.weight"},
      {Stack::decoder, 1, FigurePart::feed_forward_norm, "model.shared.weight"},
  };
  for (const ReadBox& box : boxes) check_tokens(model, tape, pass, box);
}

TEST_CASE("The gradient of each token in boxes before a norm matches central differences") {
  Config config = small_config();
  config.norm = NormPosition::pre;
  config.residual = GENERATE(true, false);
  Transformer model = learning_model(config);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const BackwardPass pass = backward_pass(model, tape, source, target);
  const ReadBox boxes[] = {
      {Stack::encoder, 0, FigurePart::self_attention_norm, "model.encoder.layers.0.self_attn.k_proj.weight"},
      {Stack::encoder, 0, FigurePart::feed_forward_norm, "model.encoder.layers.0.fc1.weight"},
      {Stack::encoder, no_layer, FigurePart::output_norm, "model.decoder.layers.0.encoder_attn.k_proj.weight"},
      {Stack::decoder, 1, FigurePart::cross_attention_norm, "model.decoder.layers.1.encoder_attn.q_proj.weight"},
      {Stack::decoder, no_layer, FigurePart::output_norm, "model.shared.weight"},
  };
  for (const ReadBox& box : boxes) check_tokens(model, tape, pass, box);
}

TEST_CASE("The gradient of each token in each head matches central differences") {
  Config config = small_config();
  config.norm = GENERATE(NormPosition::post, NormPosition::pre, NormPosition::none);
  Transformer model = learning_model(config);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const BackwardPass pass = backward_pass(model, tape, source, target);
  const ReadBox boxes[] = {
      {Stack::encoder, 0, FigurePart::self_attention, "model.encoder.layers.0.self_attn.out_proj.weight"},
      {Stack::decoder, 0, FigurePart::self_attention, "model.decoder.layers.0.self_attn.out_proj.weight"},
      {Stack::decoder, 1, FigurePart::cross_attention, "model.decoder.layers.1.encoder_attn.out_proj.weight"},
  };
  const Index heads = config.num_heads, width = config.d_model / heads;
  for (const auto& [stack, layer, part, name] : boxes) {
    INFO("the heads that " << name << " reads");
    const BoxGradient& box = box_of(pass, stack, layer, part);
    REQUIRE(box.heads.size() == box.tokens.size() * static_cast<std::size_t>(heads));
    for (std::size_t i = 0; i < box.heads.size(); ++i) {
      const Index row = static_cast<Index>(i) / heads, head = static_cast<Index>(i) % heads;
      const double expected = norm_of(model, tape, readers_of(model, name), row, {head * width, width});
      check_near(static_cast<double>(box.heads[i]), expected);
    }
  }
}

// A bias is added to the output of its box: with one token, both have the same gradient.
TEST_CASE("The gradient of the output of sublayers and of the scores matches central differences") {
  Config config = small_config();
  config.norm = GENERATE(NormPosition::post, NormPosition::pre, NormPosition::none);
  config.residual = GENERATE(true, false);
  config.output_bias = true;
  Transformer model = learning_model(config);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const std::vector<TokenId> one_source{5}, one_target{7};
  const BackwardPass pass = backward_pass(model, tape, one_source, one_target);
  const ReadBox boxes[] = {
      {Stack::encoder, 0, FigurePart::self_attention, "model.encoder.layers.0.self_attn.out_proj.bias"},
      {Stack::encoder, 0, FigurePart::feed_forward, "model.encoder.layers.0.fc2.bias"},
      {Stack::decoder, 0, FigurePart::self_attention, "model.decoder.layers.0.self_attn.out_proj.bias"},
      {Stack::decoder, 0, FigurePart::cross_attention, "model.decoder.layers.0.encoder_attn.out_proj.bias"},
      {Stack::decoder, 1, FigurePart::feed_forward, "model.decoder.layers.1.fc2.bias"},
      {Stack::heads, no_layer, FigurePart::output, "final_logits_bias"},
  };
  for (const auto& [stack, layer, part, name] : boxes) {
    INFO(name);
    Matrix& bias = parameters_of(model).at(name)->value;
    double squares = 0;
    for (Index c = 0; c < bias.cols(); ++c) {
      const Scalar before = bias(0, c);
      bias(0, c) = before + difference;
      const double above = backward_pass(model, tape, one_source, one_target).loss;
      bias(0, c) = before - difference;
      const double below = backward_pass(model, tape, one_source, one_target).loss;
      bias(0, c) = before;
      squares += std::pow((above - below) / (2 * difference), 2);
    }
    check_near(box_of(pass, stack, layer, part).norm, std::sqrt(squares));
  }
}

TEST_CASE("The norm of the gradient of a box's parameters is that of its weights and biases") {
  Config config = small_config();
  config.tie_embeddings = GENERATE(TieEmbeddings::all, TieEmbeddings::target, TieEmbeddings::none);
  config.norm = GENERATE(NormPosition::post, NormPosition::pre);
  config.output_bias = true;
  Transformer model = learning_model(config);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const BackwardPass pass = backward_pass(model, tape, source, target);
  const auto norm = [&](const std::vector<std::string>& beginnings) {
    double squares = 0;
    for (const auto& [name, p] : parameters_of(model))
      for (const std::string& beginning : beginnings)
        if (name.starts_with(beginning)) squares += p->gradient.squaredNorm();
    return std::sqrt(squares);
  };
  const auto found = [&](Stack stack, Index layer, FigurePart part) {
    return box_of(pass, stack, layer, part).parameter_norm;
  };
  check_near(pass.parameter_norm, norm({""}));
  check_near(found(Stack::encoder, 0, FigurePart::self_attention), norm({"model.encoder.layers.0.self_attn."}));
  check_near(found(Stack::decoder, 1, FigurePart::cross_attention), norm({"model.decoder.layers.1.encoder_attn."}));
  check_near(found(Stack::decoder, 1, FigurePart::cross_attention_norm),
             norm({"model.decoder.layers.1.encoder_attn_layer_norm."}));
  check_near(found(Stack::decoder, 0, FigurePart::feed_forward),
             norm({"model.decoder.layers.0.fc1.", "model.decoder.layers.0.fc2."}));
  check_near(found(Stack::decoder, 0, FigurePart::feed_forward_norm),
             norm({"model.decoder.layers.0.final_layer_norm."}));
  check_near(found(Stack::encoder, no_layer, FigurePart::embedding),
             norm({"model.shared.", "model.encoder.embed_tokens."}));
  const bool shares = config.tie_embeddings != TieEmbeddings::none;
  const char* own_output = shares ? "model.decoder.embed_tokens." : "lm_head.";
  check_near(found(Stack::heads, no_layer, FigurePart::output),
             norm({"model.shared.", own_output, "final_logits_bias"}));
}
