#include "exchange/onnx/onnx_layers.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace wasmformer {

using namespace onnx_sizes;

namespace {

constexpr float lowest = std::numeric_limits<float>::lowest();

}  // namespace

OnnxValue OnnxLayers::embed(const OnnxValue& ids, const OnnxValue& places, const std::string& table,
                            const Matrix& positions) {
  OnnxValue x = graph_.gather(graph_.weight(table), ids);
  if (c_.scale_embedding) x = graph_.multiply(x, graph_.number(std::sqrt(static_cast<float>(c_.d_model))));
  if (!c_.has_position_table()) return x;
  const OnnxValue all = graph_.constant("positions", positions);
  return graph_.add(x, graph_.gather(all, places));
}

OnnxValue OnnxLayers::convolution(const OnnxValue& x, const OnnxValue& is_there) {
  const std::int64_t width = c_.convolution_width, radius = (width - 1) / 2;
  const OnnxValue kept = graph_.multiply(x, graph_.unsqueeze(graph_.to_float(is_there), {2}));
  const OnnxValue padded = graph_.graph().op("Pad", {kept, graph_.integers({0, radius, 0, 0, radius, 0})});
  OnnxGraph::Names parts;
  for (std::int64_t k = 0; k < width; ++k) {
    const OnnxValue begin = graph_.integers({k});
    const OnnxValue end = graph_.add(graph_.size(x, 1), begin);
    parts.push_back(graph_.graph().op("Slice", {padded, begin, end, graph_.integers({1})}));
  }
  const OnnxValue window = graph_.graph().op("Concat", parts, {{"axis", std::int64_t{2}}});
  return graph_.add(x, graph_.apply("Relu", graph_.linear(window, "model.encoder.convolution")));
}

OnnxValue OnnxLayers::encoder_layer(OnnxValue x, Index number, const OnnxValue& mask, const OnnxValue& places) {
  const std::string layer = "model.encoder.layers." + std::to_string(number);
  x = add_and_norm(x, layer + ".self_attn_layer_norm", [&](const OnnxValue& h) {
    const std::string name = layer + ".self_attn";
    const OnnxValue k = rotated(heads(graph_.linear(h, name + ".k_proj")), places);
    const OnnxValue v = heads(graph_.linear(h, name + ".v_proj"));
    return attention(h, k, v, {.name = name, .mask = mask, .places = places});
  });
  return feed_forward(x, layer);
}

OnnxValue OnnxLayers::decoder_layer(OnnxValue x, Index number, const OnnxDecoderInputs& in) {
  const std::string layer = "model.decoder.layers." + std::to_string(number);
  const bool is_recurrent = c_.decoder_self == DecoderSelf::ssru;
  x = add_and_norm(x, layer + ".self_attn_layer_norm", [&](const OnnxValue& h) {
    if (is_recurrent) return recurrent(h, number);
    return cached_attention(h, h, "decoder", number,
                            {.name = layer + ".self_attn", .mask = in.causal_mask, .places = in.places});
  });
  x = add_and_norm(x, layer + ".encoder_attn_layer_norm", [&](const OnnxValue& h) {
    return cached_attention(h, in.fresh_memory, "encoder", number,
                            {.name = layer + ".encoder_attn", .mask = in.padding_mask, .places = ""});
  });
  return feed_forward(x, layer);
}

OnnxValue OnnxLayers::stack_output(const OnnxValue& x, const std::string& stack) {
  return c_.norm == NormPosition::pre ? norm(x, stack + ".layer_norm") : x;
}

OnnxValue OnnxLayers::padding_mask(const OnnxValue& ones) {
  const OnnxValue is_there = graph_.to_float(ones);
  const OnnxValue is_padding = graph_.subtract(graph_.number(1), is_there);
  const OnnxValue mask = graph_.multiply(is_padding, graph_.number(lowest));
  return graph_.unsqueeze(mask, {1, 2});
}

OnnxValue OnnxLayers::causal_mask(const OnnxValue& places, const OnnxValue& count) {
  const OnnxValue keys = graph_.range(graph_.integer(0), count);
  const OnnxValue queries = graph_.unsqueeze(places, {1});
  const OnnxValue is_seen = graph_.graph().op("LessOrEqual", {keys, queries});
  return graph_.graph().op("Where", {is_seen, graph_.number(0), graph_.number(lowest)});
}

OnnxValue OnnxLayers::attention(const OnnxValue& x, const OnnxValue& k, const OnnxValue& v, const Attention& a) {
  const OnnxValue q = rotated(heads(graph_.linear(x, a.name + ".q_proj")), a.places);
  const OnnxValue masked = graph_.add(scores(q, k, a.name), a.mask);
  const OnnxValue mixed = graph_.matrix_product(graph_.softmax(masked), v);
  return graph_.linear(joined(mixed), a.name + ".out_proj");
}

OnnxValue OnnxLayers::scores(OnnxValue q, const OnnxValue& k, const std::string& name) {
  if (c_.attention == AttentionScore::additive) {
    const OnnxValue each_query = graph_.unsqueeze(q, {3});
    const OnnxValue each_key = graph_.unsqueeze(k, {2});
    const OnnxValue sums = graph_.add(each_query, each_key);
    const OnnxValue v = graph_.weight(name + ".score_v", {c_.num_heads, 1, 1, d_k()});
    const OnnxValue features = graph_.multiply(graph_.apply("Tanh", sums), v);
    return graph_.sum(features, /*axis=*/-1, /*keeps_axis=*/false);
  }
  if (c_.attention == AttentionScore::bilinear)
    q = graph_.matrix_product(q, graph_.weight(name + ".score_proj.weight", {c_.num_heads, d_k(), d_k()}));
  const OnnxValue products = graph_.matrix_product(q, graph_.transpose(k, {0, 1, 3, 2}));
  if (c_.attention != AttentionScore::scaled_dot) return products;
  return graph_.multiply(products, graph_.number(1 / std::sqrt(static_cast<float>(d_k()))));
}

OnnxValue OnnxLayers::cached_attention(const OnnxValue& x, const OnnxValue& rows, const std::string& part, Index layer,
                                       const Attention& a) {
  const auto appended = [&](const Cache& cache, const OnnxValue& fresh) {
    return graph_.graph().op("Concat", {cache.past, fresh}, {{"axis", std::int64_t{2}}}, cache.present);
  };
  const Cache keys = head_cache(layer, part, "key");
  const OnnxValue k = appended(keys, rotated(heads(graph_.linear(rows, a.name + ".k_proj")), a.places));
  const Cache values = head_cache(layer, part, "value");
  const OnnxValue v = appended(values, heads(graph_.linear(rows, a.name + ".v_proj")));
  return attention(x, k, v, a);
}

OnnxLayers::Cache OnnxLayers::cache(Index layer, const std::string& what, const OnnxGraph::Dimensions& past,
                                    const OnnxGraph::Dimensions& present) {
  const std::string end = "." + std::to_string(layer) + "." + what;
  const Cache names{.past = "past_key_values" + end, .present = "present" + end};
  graph_.graph().input(names.past, OnnxGraph::Type::float32, past);
  graph_.graph().output(names.present, OnnxGraph::Type::float32, present);
  return names;
}

OnnxLayers::Cache OnnxLayers::head_cache(Index layer, const std::string& part, const char* what) {
  const auto of_tokens = [&](const char* when) {
    return OnnxGraph::Dimensions{batch, c_.num_heads, when + ("_" + part) + "_sequence_length", d_k()};
  };
  return cache(layer, part + "." + what, of_tokens("past"), of_tokens("present"));
}

OnnxValue OnnxLayers::recurrent(const OnnxValue& x, Index layer) {
  const OnnxGraph::Dimensions row{batch, c_.d_model};
  const std::string number = std::to_string(layer), name = "model.decoder.layers." + number + ".recurrent";
  const Cache state = cache(layer, "decoder.state", row, row);
  const OnnxValue u = graph_.product(x, name + ".input_proj");
  const OnnxValue f = graph_.apply("Sigmoid", graph_.linear(x, name + ".forget_gate"));

  const std::string cell = "cell." + number;
  const OnnxValue before = cell + ".before", in = cell + ".input", gate = cell + ".gate";
  OnnxGraph body;
  for (const OnnxValue& input : {before, in, gate}) body.input(input, OnnxGraph::Type::float32, row);
  const OnnxValue change = body.op("Sub", {before, in}, {}, cell + ".change");
  const OnnxValue kept = body.op("Mul", {gate, change}, {}, cell + ".kept");
  const OnnxValue after = body.op("Add", {in, kept}, {}, cell + ".after");
  body.output(after, OnnxGraph::Type::float32, row);
  body.output(body.op("Identity", {after}, {}, cell + ".row"), OnnxGraph::Type::float32, row);
  graph_.graph().node("Scan", {state.past, u, f}, {state.present, cell},
                      {{"body", &body},
                       {"num_scan_inputs", std::int64_t{2}},
                       {"scan_input_axes", OnnxGraph::Integers{1, 1}},
                       {"scan_output_axes", OnnxGraph::Integers{1}}});
  return graph_.apply("Relu", cell);
}

OnnxValue OnnxLayers::add_and_norm(const OnnxValue& x, const std::string& norm_name, Sublayer sublayer) {
  const OnnxValue y = sublayer(c_.norm == NormPosition::pre ? norm(x, norm_name) : x);
  const OnnxValue sum = c_.residual ? graph_.add(x, y) : y;
  return c_.norm == NormPosition::post ? norm(sum, norm_name) : sum;
}

OnnxValue OnnxLayers::feed_forward(const OnnxValue& x, const std::string& layer) {
  return add_and_norm(x, layer + ".final_layer_norm", [&](const OnnxValue& h) {
    return graph_.linear(activation(graph_.linear(h, layer + ".fc1")), layer + ".fc2");
  });
}

OnnxValue OnnxLayers::activation(const OnnxValue& x) {
  if (c_.activation == Activation::relu) return graph_.apply("Relu", x);
  if (c_.activation == Activation::swish) return graph_.multiply(x, graph_.apply("Sigmoid", x));
  // GELU: x / 2 (1 + erf(x / √2)).
  const OnnxValue erf = graph_.apply("Erf", graph_.multiply(x, graph_.number(1 / std::numbers::sqrt2_v<float>)));
  const OnnxValue half = graph_.multiply(x, graph_.number(0.5f));
  return graph_.multiply(half, graph_.add(erf, graph_.number(1)));
}

OnnxValue OnnxLayers::heads(const OnnxValue& x) {
  return graph_.transpose(graph_.reshape(x, {0, 0, c_.num_heads, d_k()}), {0, 2, 1, 3});
}

OnnxValue OnnxLayers::joined(const OnnxValue& x) {
  return graph_.reshape(graph_.transpose(x, {0, 2, 1, 3}), {0, 0, c_.d_model});
}

OnnxValue OnnxLayers::rotated(const OnnxValue& x, const OnnxValue& places) {
  if (c_.positions != Positions::rotary || places.empty()) return x;
  const Matrix angles = transformer_.rotary_angles();  // the sines of each place, then the cosines
  const Index half = d_k() / 2;
  Matrix swap = Matrix::Zero(d_k(), d_k());  // (a, b) becomes (-b, a)
  for (Index i = 0; i < half; ++i) {
    swap(half + i, i) = -1;
    swap(i, half + i) = 1;
  }
  const auto of_places = [&](const char* name, Index column) {
    const Matrix twice = angles.middleCols(column, half).replicate(1, 2);
    return graph_.gather(graph_.constant(name, twice), places);
  };
  const OnnxValue swapped = graph_.matrix_product(x, graph_.constant("swap", swap));
  const OnnxValue along = graph_.multiply(x, of_places("cosines", half));
  const OnnxValue across = graph_.multiply(swapped, of_places("sines", 0));
  return graph_.add(along, across);
}

}  // namespace wasmformer
