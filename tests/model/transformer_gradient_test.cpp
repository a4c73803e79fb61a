#include "tests/model/model_gradients.h"
#include "tests/model/small_model.h"

using namespace wasmformer;

TEST_CASE("The gradients of a whole model match central differences") {
  Config c = small_config();
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  c.positions = GENERATE(Positions::sinusoidal, Positions::learned, Positions::rotary);
  c.tie_embeddings = GENERATE(TieEmbeddings::all, TieEmbeddings::target, TieEmbeddings::none);
  c.attention = c.norm == NormPosition::post
                    ? c.positions == Positions::learned ? AttentionScore::dot : AttentionScore::scaled_dot
                : c.positions == Positions::learned ? AttentionScore::additive
                : c.positions == Positions::rotary  ? AttentionScore::scaled_dot
                                                    : AttentionScore::bilinear;
  c.decoder_self = c.positions == Positions::learned ? DecoderSelf::ssru : DecoderSelf::attention;
  c.output_bias = c.tie_embeddings != TieEmbeddings::target;
  c.activation = c.norm == NormPosition::pre ? Activation::swish : Activation::gelu;
  c.dropout = c.attention_dropout = c.activation_dropout = c.positions == Positions::learned ? 0.2 : 0;
  if (c.tie_embeddings != TieEmbeddings::all) c.source_vocab_size = 7;
  CAPTURE(to_json(c));

  Transformer model = random_model(c, 3);
  check_model_gradients(model);
}

TEST_CASE("The gradients of a model that scores some tokens match central differences") {
  Config c = small_config();
  c.tie_embeddings = GENERATE(TieEmbeddings::all, TieEmbeddings::none);
  c.output_bias = GENERATE(true, false);
  Transformer model = random_model(c, 3);
  model.enable_gradients();
  std::vector<Parameter*> parameters;
  model.visit([&](const ParameterInfo&, Parameter& p) { parameters.push_back(&p); });
  const Packed source = packed({{4, 5, 6, 3}, {3}}), target = packed({{2, 7, 4}, {2}});
  const std::vector<TokenId> tokens{3, 4, 7, 8, 0}, columns{2, 1, 0, 0};
  const std::vector<Scalar> offsets{0, 0, 0, 0.7, 0.7};
  check_gradients(
      {}, parameters,
      [&](Tape& tape, const std::vector<Var>&) {
        Var memory = model.encode(tape, source.ids, source.spans);
        Var hidden = model.decode(tape, target.ids, target.spans, memory, source.spans);
        return cross_entropy(tape, model.logits(tape, hidden, tokens, offsets), columns, 0.1).loss;
      },
      /*places=*/12);
}

TEST_CASE("The gradients of an encoder with both heads match central differences") {
  Config c = small_config();
  c.decoder_layers = 0, c.encoder_layers = 2, c.classes = 3, c.tags = 4;
  c.pooling = GENERATE(Pooling::mean, Pooling::first);
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  c.positions = c.pooling == Pooling::first ? Positions::rotary : Positions::sinusoidal;
  c.embedding_norm = c.norm == NormPosition::post;
  c.convolution_width = c.pooling == Pooling::first ? 3 : 0;
  c.pooler = c.norm == NormPosition::pre ? Pooler::none : c.pooling == Pooling::first ? Pooler::tanh : Pooler::relu;
  Transformer model = random_model(c, 1);
  model.enable_gradients();
  const Packed source = packed({{4, 5, 3}, {6, 7, 8, 4, 3}});
  const std::vector<TokenId> classes{2, 0}, tags{1, 3, 0};
  const std::vector<Index> rows{0, 1, 5};
  std::vector<Parameter*> parameters;
  model.visit([&](const ParameterInfo&, Parameter& p) { parameters.push_back(&p); });
  check_gradients(
      {}, parameters,
      [&](Tape& tape, const std::vector<Var>&) {
        Var memory = model.encode(tape, source.ids, source.spans);
        return weighted_sum(tape, cross_entropy(tape, model.classify(tape, memory, source.spans), classes, 0.1).loss,
                            cross_entropy(tape, model.tag(tape, memory, rows), tags, 0).loss, 0.5);
      },
      12);
}
