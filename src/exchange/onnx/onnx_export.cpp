#include "exchange/onnx/onnx_export.h"

#include <limits>

#include "exchange/huggingface/encoder_settings.h"
#include "exchange/marian/marian_export.h"
#include "exchange/onnx/onnx_layers.h"

namespace wasmformer {
namespace {

using namespace onnx_sizes;
using Type = OnnxGraph::Type;

// One of a model's graphs. Values are [batch, tokens, d_model] unless stated otherwise.
class StackGraph {
 public:
  StackGraph(const Transformer& transformer, const std::map<std::string, Matrix>& weights)
      : transformer_(transformer), c_(transformer.config()), graph_(weights), layers_(graph_, transformer) {}

  std::string encoder() {
    graph_.name_output(encoded(), "last_hidden_state");
    output("last_hidden_state", {batch, source, c_.d_model});
    return graph_.graph().bytes();
  }

  // An encoder with its heads.
  std::string annotator() {
    const OnnxValue x = encoded();
    if (c_.predicts_tokens()) {
      output("logits", {batch, source, c_.target_vocab_size});
      logits(x);
    }
    if (c_.classes > 0) {
      output("logits", {batch, c_.classes});
      graph_.name_output(graph_.linear(pooled(x), "classifier"), "logits");
    }
    if (c_.tags > 0) tag(x);
    return graph_.graph().bytes();
  }

  std::string decoder() {
    input("input_ids", Type::int64, {batch, target});
    input("encoder_hidden_states", Type::float32, {batch, source, c_.d_model});
    input("encoder_attention_mask", Type::int64, {batch, source});
    output("logits", {batch, target, c_.target_vocab_size});
    const OnnxDecoderInputs inputs = decoder_inputs();
    OnnxValue x = layers_.embed("input_ids", inputs.places, target_table(), transformer_.target_positions());
    for (Index i = 0; i < c_.decoder_layers; ++i) x = layers_.decoder_layer(x, i, inputs);
    logits(layers_.stack_output(x, "model.decoder"));
    return graph_.graph().bytes();
  }

 private:
  void input(const std::string& name, Type type, const OnnxGraph::Dimensions& sizes) {
    graph_.graph().input(name, type, sizes);
  }
  void output(const std::string& name, const OnnxGraph::Dimensions& sizes) {
    graph_.graph().output(name, Type::float32, sizes);
  }

  // The encoder, from its inputs to its output.
  OnnxValue encoded() {
    input("input_ids", Type::int64, {batch, source});
    input("attention_mask", Type::int64, {batch, source});
    const OnnxValue tokens = graph_.scalar_size("input_ids", 1);
    const OnnxValue places = graph_.range(graph_.integer(0), tokens);
    OnnxValue x = layers_.embed("input_ids", places, source_table(), transformer_.source_positions());
    if (c_.embedding_norm) x = layers_.norm(x, "model.encoder.layernorm_embedding");
    if (c_.convolution_width > 0) x = layers_.convolution(x, "attention_mask");
    const OnnxValue mask = layers_.padding_mask("attention_mask");
    for (Index i = 0; i < c_.encoder_layers; ++i) x = layers_.encoder_layer(x, i, mask, places);
    return layers_.stack_output(x, "model.encoder");
  }

  // Adds the tags of each token as an output.
  void tag(const OnnxValue& x) {
    const std::string name = c_.classes > 0 ? "tag_logits" : "logits";
    output(name, {batch, source, c_.tags});
    graph_.name_output(graph_.linear(x, "tagger"), name);
    if (!c_.crf) return;
    output("tag_transitions", {c_.tags, c_.tags});
    graph_.name_output(graph_.weight("tagger.transitions"), "tag_transitions");
  }

  // Input of the classifier, one row per text: [batch, d_model].
  OnnxValue pooled(const OnnxValue& x) {
    const OnnxValue y = c_.pooling == Pooling::first ? first_row(x) : mean_row(x);
    if (c_.pooler == Pooler::none) return y;
    return graph_.apply(c_.pooler == Pooler::tanh ? "Tanh" : "Relu", graph_.linear(y, "pooler"));
  }

  OnnxValue first_row(const OnnxValue& x) {
    return graph_.graph().op("Gather", {x, graph_.integer(0)}, {{"axis", std::int64_t{1}}});
  }

  // The mean over the tokens that are no padding.
  OnnxValue mean_row(const OnnxValue& x) {
    const OnnxValue is_there = graph_.to_float("attention_mask");
    const OnnxValue kept = graph_.multiply(x, graph_.unsqueeze(is_there, {2}));
    const OnnxValue sum = graph_.sum(kept, /*axis=*/1, /*keeps_axis=*/false);
    return graph_.divide(sum, graph_.sum(is_there, /*axis=*/1, /*keeps_axis=*/true));
  }

  OnnxDecoderInputs decoder_inputs() {
    OnnxDecoderInputs inputs;
    inputs.fresh_memory = fresh_memory();
    if (c_.decoder_self == DecoderSelf::ssru) {
      // A recurrent decoder needs no mask, and its past does not show its length.
      input("position_ids", Type::int64, {batch, target});
      inputs.places = "position_ids";
    } else {
      const OnnxValue before = graph_.scalar_size("past_key_values.0.decoder.key", 2);
      const OnnxValue after = graph_.add(before, graph_.scalar_size("input_ids", 1));
      inputs.places = graph_.range(before, after);
      inputs.causal_mask = layers_.causal_mask(inputs.places, after);
    }
    inputs.padding_mask = layers_.padding_mask("encoder_attention_mask");
    return inputs;
  }

  // All of the source in the first step, then nothing.
  OnnxValue fresh_memory() {
    constexpr std::int64_t end = std::numeric_limits<std::int64_t>::max(), token_axis = 1;
    const OnnxValue begin = graph_.size("past_key_values.0.encoder.key", 2);
    return graph_.graph().op("Slice",
                             {"encoder_hidden_states", begin, graph_.integers({end}), graph_.integers({token_axis})});
  }

  void logits(const OnnxValue& x) {
    OnnxGraph::Names operands{graph_.reshape(x, {-1, c_.d_model}), graph_.weight(output_table())};
    if (c_.output_bias) operands.push_back(graph_.weight("final_logits_bias"));
    const OnnxValue rows = graph_.graph().op("Gemm", operands, {{"transB", std::int64_t{1}}});
    const OnnxValue tokens = graph_.apply("Shape", "input_ids");
    const OnnxValue shape =
        graph_.graph().op("Concat", {tokens, graph_.integers({c_.target_vocab_size})}, {{"axis", std::int64_t{0}}});
    graph_.graph().op("Reshape", {rows, shape}, {}, "logits");
  }

  std::string table(const char* of_its_own) const {
    return c_.tie_embeddings == TieEmbeddings::all ? "model.shared.weight" : of_its_own;
  }
  std::string source_table() const { return table("model.encoder.embed_tokens.weight"); }
  std::string target_table() const { return table("model.decoder.embed_tokens.weight"); }
  std::string output_table() const {
    return c_.tie_embeddings == TieEmbeddings::none ? "lm_head.weight" : target_table();
  }

  const Transformer& transformer_;
  const Config& c_;
  GraphBuilder graph_;
  OnnxLayers layers_;
};

void check_onnx(const Config& c) {
  WASMFORMER_CHECK(c.positions != Positions::fractions, ErrorCode::export_,
                   "positions is fractions; the ONNX graphs, which take padded batches, do not know the length of each "
                   "source sentence");
  WASMFORMER_CHECK(c.key_width() == c.d_model, ErrorCode::export_,
                   "key_dim is " << c.key_dim << "; programs that run ONNX files take it for d_model / num_heads");
}

}  // namespace

std::map<std::string, std::string> export_onnx(const ModelFile& model) {
  const Transformer& transformer = *model.transformer;
  const Config& c = transformer.config();
  check_onnx(c);
  auto files = c.is_encoder() ? encoder_settings(model)
                              : marian_settings(model, c.source_vocab_size, c.target_vocab_size, Precision::f32);
  std::map<std::string, Matrix> weights;
  transformer.visit([&](const ParameterInfo& info, const Parameter& p) { weights[info.name] = p.matrix(); });
  if (c.is_encoder()) {
    files["model.onnx"] = StackGraph(transformer, weights).annotator();
    return files;
  }
  files["encoder_model.onnx"] = StackGraph(transformer, weights).encoder();
  files["decoder_model_merged.onnx"] = StackGraph(transformer, weights).decoder();
  return files;
}

}  // namespace wasmformer
