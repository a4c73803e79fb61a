#include "exchange/onnx/onnx_export.h"

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "exchange/huggingface/encoder_settings.h"
#include "exchange/marian/marian_export.h"
#include "exchange/onnx/onnx.h"

namespace wasmformer {
namespace {

using Names = OnnxGraph::Names;
using Type = OnnxGraph::Type;
constexpr float lowest = std::numeric_limits<float>::lowest();

// One of the two graphs. Values are [batch, tokens, d_model] unless stated otherwise.
class StackGraph {
 public:
  StackGraph(const ModelFile& model, std::map<std::string, Matrix>& weights)
      : transformer_(*model.transformer), c_(transformer_.config()), weights_(weights) {}

  std::string encoder() {
    graph_.op("Identity", {encoded()}, {}, "last_hidden_state");
    graph_.output("last_hidden_state", Type::float32, {b, s, c_.d_model});
    return graph_.bytes();
  }

  // An encoder with its heads.
  std::string annotator() {
    const std::string x = encoded();
    if (c_.predicts_tokens()) {
      graph_.output("logits", Type::float32, {b, s, c_.target_vocab_size});
      logits(x);
    }
    if (c_.classes > 0) {
      graph_.output("logits", Type::float32, {b, c_.classes});
      graph_.op("Identity", {linear(pooled(x), "classifier")}, {}, "logits");
    }
    if (c_.tags > 0) {
      const std::string name = c_.classes > 0 ? "tag_logits" : "logits";
      graph_.output(name, Type::float32, {b, s, c_.tags});
      graph_.op("Identity", {linear(x, "tagger")}, {}, name);
      if (c_.crf) {
        graph_.output("tag_transitions", Type::float32, {c_.tags, c_.tags});
        graph_.op("Identity", {weight("tagger.transitions")}, {}, "tag_transitions");
      }
    }
    return graph_.bytes();
  }

  std::string decoder() {
    const Index d_k = c_.d_model / c_.num_heads;
    graph_.input("input_ids", Type::int64, {b, t});
    graph_.input("encoder_hidden_states", Type::float32, {b, s, c_.d_model});
    graph_.input("encoder_attention_mask", Type::int64, {b, s});
    graph_.output("logits", Type::float32, {b, t, c_.target_vocab_size});

    // The part of the source that is not in the past yet: all of it in the first step, then nothing.
    const std::string fresh =
        graph_.op("Slice", {"encoder_hidden_states", length("past_key_values.0.encoder.key", 2),
                            graph_.integers({std::numeric_limits<std::int64_t>::max()}), graph_.integers({1})});
    const auto [at, causal] = places();
    const std::string padding = padding_mask("encoder_attention_mask");

    std::string x = embed("input_ids", at, target_table(), transformer_.target_positions());
    for (Index i = 0; i < c_.decoder_layers; ++i) {
      const std::string number = std::to_string(i), layer = "model.decoder.layers." + number;
      // The keys and values of `rows` are appended to the past ones.
      const auto attend = [&](const std::string& h, const std::string& rows, const std::string& mask,
                              const std::string& name, const std::string& part) {
        const std::string own = part == "decoder" ? at : "";  // places, which cross-attention does not look at
        const auto remembered = [&](const char* projection, const char* what) {
          const std::string end = "." + number + "." + part + "." + what;
          const std::string past = "past_key_values" + end, present = "present" + end;
          const std::string tokens = part + "_sequence_length";
          graph_.input(past, Type::float32, {b, c_.num_heads, "past_" + tokens, d_k});
          graph_.output(present, Type::float32, {b, c_.num_heads, "present_" + tokens, d_k});
          const std::string fresh = heads(linear(rows, name + projection));
          return graph_.op("Concat", {past, what == std::string("key") ? turned(fresh, own) : fresh},
                           {{"axis", std::int64_t{2}}}, present);
        };
        const std::string k = remembered(".k_proj", "key"), v = remembered(".v_proj", "value");
        return attention(h, k, v, mask, name, own);
      };
      x = residual(x, layer + ".self_attn_layer_norm", [&](const std::string& h) {
        return is_recurrent() ? recurrent(h, number) : attend(h, h, causal, layer + ".self_attn", "decoder");
      });
      x = residual(x, layer + ".encoder_attn_layer_norm",
                   [&](const std::string& h) { return attend(h, fresh, padding, layer + ".encoder_attn", "encoder"); });
      x = feed_forward(x, layer);
    }
    if (c_.norm == NormPosition::pre) x = norm(x, "model.decoder.layer_norm");
    logits(x);
    return graph_.bytes();
  }

 private:
  static constexpr const char *b = "batch_size", *s = "encoder_sequence_length", *t = "decoder_sequence_length";

  // The encoder, from its inputs to its output.
  std::string encoded() {
    graph_.input("input_ids", Type::int64, {b, s});
    graph_.input("attention_mask", Type::int64, {b, s});
    const std::string tokens = graph_.op("Squeeze", {length("input_ids", 1)});
    const std::string at = graph_.op("Range", {graph_.integer(0), tokens, graph_.integer(1)});
    const bool all = c_.tie_embeddings == TieEmbeddings::all;
    std::string x = embed("input_ids", at, all ? "model.shared.weight" : "model.encoder.embed_tokens.weight",
                          transformer_.source_positions());
    if (c_.embedding_norm) x = norm(x, "model.encoder.layernorm_embedding");
    const std::string mask = padding_mask("attention_mask");
    for (Index i = 0; i < c_.encoder_layers; ++i) {
      const std::string layer = "model.encoder.layers." + std::to_string(i);
      x = residual(x, layer + ".self_attn_layer_norm", [&](const std::string& h) {
        const std::string name = layer + ".self_attn";
        const std::string k = turned(heads(linear(h, name + ".k_proj")), at), v = heads(linear(h, name + ".v_proj"));
        return attention(h, k, v, mask, name, at);
      });
      x = feed_forward(x, layer);
    }
    if (c_.norm == NormPosition::pre) x = norm(x, "model.encoder.layer_norm");
    return x;
  }

  // What a classifier reads of each text: [batch, d_model].
  std::string pooled(const std::string& x) {
    std::string y;
    if (c_.pooling == Pooling::first) {
      y = graph_.op("Gather", {x, graph_.integer(0)}, {{"axis", std::int64_t{1}}});
    } else {
      const std::string ones = graph_.op("Cast", {"attention_mask"}, {{"to", std::int64_t{1}}});
      const std::string own = graph_.op("Mul", {x, graph_.op("Unsqueeze", {ones, graph_.integers({2})})});
      const std::string sum = graph_.op("ReduceSum", {own, graph_.integers({1})}, {{"keepdims", std::int64_t{0}}});
      y = graph_.op("Div", {sum, graph_.op("ReduceSum", {ones, graph_.integers({1})})});
    }
    if (c_.pooler == Pooler::none) return y;
    return graph_.op(c_.pooler == Pooler::tanh ? "Tanh" : "Relu", {linear(y, "pooler")});
  }

  bool is_recurrent() const { return c_.decoder_self == DecoderSelf::ssru; }

  // The positions of the target tokens, and their causal mask: 0, or the lowest number for later tokens. A
  // recurrent decoder needs no mask, and its past does not show its length.
  std::pair<std::string, std::string> places() {
    if (is_recurrent()) {
      graph_.input("position_ids", Type::int64, {b, t});
      return {"position_ids", ""};
    }
    const std::string before = graph_.op("Squeeze", {length("past_key_values.0.decoder.key", 2)});
    const std::string after = graph_.op("Add", {before, graph_.op("Squeeze", {length("input_ids", 1)})});
    const std::string at = graph_.op("Range", {before, after, graph_.integer(1)});
    const std::string keys = graph_.op("Range", {graph_.integer(0), after, graph_.integer(1)});
    const std::string seen = graph_.op("LessOrEqual", {keys, graph_.op("Unsqueeze", {at, graph_.integers({1})})});
    return {at, graph_.op("Where", {seen, graph_.number(0), graph_.number(lowest)})};
  }

  // The cell of ops/ssru.h, token by token: c = u + f (c before - u).
  std::string recurrent(const std::string& x, const std::string& number) {
    const OnnxGraph::Dimensions row{b, c_.d_model};
    const std::string name = "model.decoder.layers." + number + ".recurrent";
    const std::string past = "past_key_values." + number + ".decoder.state",
                      present = "present." + number + ".decoder.state";
    graph_.input(past, Type::float32, row);
    graph_.output(present, Type::float32, row);
    const std::string u = product(x, name + ".input_proj"),
                      f = graph_.op("Sigmoid", {linear(x, name + ".forget_gate")});

    const std::string cell = "cell." + number, before = cell + ".before", in = cell + ".input", gate = cell + ".gate";
    OnnxGraph body;
    for (const std::string& input : {before, in, gate}) body.input(input, Type::float32, row);
    const std::string change = body.op("Sub", {before, in}, {}, cell + ".change");
    const std::string after =
        body.op("Add", {in, body.op("Mul", {gate, change}, {}, cell + ".kept")}, {}, cell + ".after");
    body.output(after, Type::float32, row);
    body.output(body.op("Identity", {after}, {}, cell + ".row"), Type::float32, row);
    graph_.node("Scan", {past, u, f}, {present, cell},
                {{"body", &body},
                 {"num_scan_inputs", std::int64_t{2}},
                 {"scan_input_axes", OnnxGraph::Integers{1, 1}},
                 {"scan_output_axes", OnnxGraph::Integers{1}}});
    return graph_.op("Relu", {cell});
  }

  using Sublayer = std::function<std::string(const std::string&)>;

  std::string target_table() const {
    return c_.tie_embeddings == TieEmbeddings::all ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
  }

  std::string weight(const std::string& name) {
    const Matrix& value = weights_.at(name);
    const bool vector = value.rows() == 1;
    return graph_.constant(name,
                           vector ? OnnxGraph::Integers{value.cols()} : OnnxGraph::Integers{value.rows(), value.cols()},
                           value.data());
  }

  std::string embed(const std::string& ids, const std::string& at, const std::string& table, const Matrix& positions) {
    std::string x = graph_.op("Gather", {weight(table), ids});
    if (c_.scale_embedding) x = graph_.op("Mul", {x, graph_.number(std::sqrt(static_cast<float>(c_.d_model)))});
    if (c_.positions == Positions::rotary) return x;
    const std::string places = graph_.constant("positions", {positions.rows(), positions.cols()}, positions.data());
    return graph_.op("Add", {x, graph_.op("Gather", {places, at})});
  }

  std::string norm(const std::string& x, const std::string& name) {
    return graph_.op("LayerNormalization", {x, weight(name + ".weight"), weight(name + ".bias")},
                     {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(c_.norm_epsilon)}});
  }

  std::string product(const std::string& x, const std::string& name) {
    const Matrix w = weights_.at(name + ".weight").transpose();
    return graph_.op("MatMul", {x, graph_.constant(name + ".weight", {w.rows(), w.cols()}, w.data())});
  }

  std::string linear(const std::string& x, const std::string& name) {
    return graph_.op("Add", {product(x, name), weight(name + ".bias")});
  }

  std::string activation(const std::string& x) {
    if (c_.activation == Activation::relu) return graph_.op("Relu", {x});
    if (c_.activation == Activation::swish) return graph_.op("Mul", {x, graph_.op("Sigmoid", {x})});
    const std::string erf = graph_.op("Erf", {graph_.op("Mul", {x, graph_.number(1 / std::numbers::sqrt2_v<float>)})});
    const std::string half = graph_.op("Mul", {x, graph_.number(0.5f)});
    return graph_.op("Mul", {half, graph_.op("Add", {erf, graph_.number(1)})});
  }

  std::string residual(const std::string& x, const std::string& norm_name, const Sublayer& sublayer) {
    if (c_.norm == NormPosition::pre) return graph_.op("Add", {x, sublayer(norm(x, norm_name))});
    return norm(graph_.op("Add", {x, sublayer(x)}), norm_name);
  }

  std::string feed_forward(const std::string& x, const std::string& layer) {
    return residual(x, layer + ".final_layer_norm", [&](const std::string& h) {
      return linear(activation(linear(h, layer + ".fc1")), layer + ".fc2");
    });
  }

  // [batch, heads, tokens, d_k]
  std::string heads(const std::string& x) {
    const std::string apart =
        graph_.op("Reshape", {x, graph_.integers({0, 0, c_.num_heads, c_.d_model / c_.num_heads})});
    return graph_.op("Transpose", {apart}, {{"perm", OnnxGraph::Integers{0, 2, 1, 3}}});
  }

  // Queries or keys, split into heads, rotated by the angles of the places `at`, unless positions are not rotary or
  // `at` is empty: (a, b) becomes (a, b) cos + (-b, a) sin, as in ops/rotary.h.
  std::string turned(const std::string& x, const std::string& at) {
    if (c_.positions != Positions::rotary || at.empty()) return x;
    const Matrix angles = transformer_.rotary_angles();
    const Index d_k = angles.cols(), half = d_k / 2;
    Matrix swap = Matrix::Zero(d_k, d_k);  // (a, b) becomes (-b, a)
    for (Index i = 0; i < half; ++i) swap(half + i, i) = -1, swap(i, half + i) = 1;
    const auto part = [&](const char* name, Index column) {
      const Matrix twice = angles.middleCols(column, half).replicate(1, 2);
      return graph_.op("Gather", {graph_.constant(name, {twice.rows(), d_k}, twice.data()), at});
    };
    const std::string swapped = graph_.op("MatMul", {x, graph_.constant("swap", {d_k, d_k}, swap.data())});
    return graph_.op("Add",
                     {graph_.op("Mul", {x, part("cosines", half)}), graph_.op("Mul", {swapped, part("sines", 0)})});
  }

  // Scores of queries and keys, both split into heads: [batch, heads, queries, keys].
  std::string scores(std::string q, const std::string& k, const std::string& name) {
    const Index d_k = c_.d_model / c_.num_heads;
    if (c_.attention == AttentionScore::additive) {
      const std::string sums = graph_.op("Add", {graph_.op("Unsqueeze", {q, graph_.integers({3})}),
                                                 graph_.op("Unsqueeze", {k, graph_.integers({2})})});
      const std::string v = name + ".score_v";
      graph_.constant(v, {c_.num_heads, 1, 1, d_k}, weights_.at(v).data());
      return graph_.op("ReduceSum", {graph_.op("Mul", {graph_.op("Tanh", {sums}), v}), graph_.integers({-1})},
                       {{"keepdims", std::int64_t{0}}});
    }
    if (c_.attention == AttentionScore::bilinear) {
      const std::string w = name + ".score_proj.weight";
      q = graph_.op("MatMul", {q, graph_.constant(w, {c_.num_heads, d_k, d_k}, weights_.at(w).data())});
    }
    const std::string keys = graph_.op("Transpose", {k}, {{"perm", OnnxGraph::Integers{0, 1, 3, 2}}});
    const std::string products = graph_.op("MatMul", {q, keys});
    if (c_.attention != AttentionScore::scaled_dot) return products;
    return graph_.op("Mul", {products, graph_.number(1 / std::sqrt(static_cast<float>(d_k)))});
  }

  // `at`: the places by which the queries are rotated, or "" to leave them as they are.
  std::string attention(const std::string& x, const std::string& k, const std::string& v, const std::string& mask,
                        const std::string& name, const std::string& at) {
    const std::string q = turned(heads(linear(x, name + ".q_proj")), at);
    const std::string masked = graph_.op("Add", {scores(q, k, name), mask});
    const std::string mixed = graph_.op("MatMul", {graph_.op("Softmax", {masked}, {{"axis", std::int64_t{-1}}}), v});
    const std::string rows = graph_.op("Transpose", {mixed}, {{"perm", OnnxGraph::Integers{0, 2, 1, 3}}});
    return linear(graph_.op("Reshape", {rows, graph_.integers({0, 0, c_.d_model})}), name + ".out_proj");
  }

  // The size of an axis, [1].
  std::string length(const std::string& x, std::int64_t axis) {
    return graph_.op("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
  }

  // 0 where `mask`, [batch, source tokens], is 1, and the lowest number where it is 0: [batch, 1, 1, source].
  std::string padding_mask(const std::string& mask) {
    const std::string ones = graph_.op("Cast", {mask}, {{"to", std::int64_t{1}}});
    const std::string scores = graph_.op("Mul", {graph_.op("Sub", {graph_.number(1), ones}), graph_.number(lowest)});
    return graph_.op("Unsqueeze", {scores, graph_.integers({1, 2})});
  }

  std::string logits(const std::string& x) {
    Names inputs{graph_.op("Reshape", {x, graph_.integers({-1, c_.d_model})}),
                 weight(c_.tie_embeddings == TieEmbeddings::none ? "lm_head.weight" : target_table())};
    if (c_.output_bias) inputs.push_back(weight("final_logits_bias"));
    const std::string rows = graph_.op("Gemm", inputs, {{"transB", std::int64_t{1}}});
    const std::string shape =
        graph_.op("Concat", {graph_.op("Shape", {"input_ids"}), graph_.integers({c_.target_vocab_size})},
                  {{"axis", std::int64_t{0}}});
    return graph_.op("Reshape", {rows, shape}, {}, "logits");
  }

  OnnxGraph graph_;
  const Transformer& transformer_;
  const Config& c_;
  std::map<std::string, Matrix>& weights_;
};

}  // namespace

std::map<std::string, std::string> export_onnx(const ModelFile& model) {
  const Config& c = model.transformer->config();
  auto files = c.is_encoder() ? encoder_settings(model)
                              : marian_settings(model, c.source_vocab_size, c.target_vocab_size, Precision::f32);
  std::map<std::string, Matrix> weights;
  model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) { weights[info.name] = p.matrix(); });
  if (c.is_encoder()) {
    files["model.onnx"] = StackGraph(model, weights).annotator();
    return files;
  }
  files["encoder_model.onnx"] = StackGraph(model, weights).encoder();
  files["decoder_model_merged.onnx"] = StackGraph(model, weights).decoder();
  return files;
}

}  // namespace wasmformer
