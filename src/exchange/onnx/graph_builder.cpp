#include "exchange/onnx/graph_builder.h"

namespace wasmformer {
namespace {

constexpr std::int64_t last_axis = -1;
constexpr std::int64_t float_type = static_cast<std::int64_t>(OnnxGraph::Type::float32);

}  // namespace

OnnxValue GraphBuilder::weight(const std::string& name) {
  const Matrix& value = weights_.at(name);
  const bool is_vector = value.rows() == 1;
  return weight(name, is_vector ? Integers{value.cols()} : Integers{value.rows(), value.cols()});
}

OnnxValue GraphBuilder::weight(const std::string& name, const Integers& shape) {
  return graph_.constant(name, shape, weights_.at(name).data());
}

OnnxValue GraphBuilder::constant(const std::string& name, const Matrix& value) {
  return graph_.constant(name, {value.rows(), value.cols()}, value.data());
}

OnnxValue GraphBuilder::softmax(const OnnxValue& x) { return graph_.op("Softmax", {x}, {{"axis", last_axis}}); }

OnnxValue GraphBuilder::reshape(const OnnxValue& x, const Integers& sizes) {
  return graph_.op("Reshape", {x, integers(sizes)});
}

OnnxValue GraphBuilder::unsqueeze(const OnnxValue& x, const Integers& axes) {
  return graph_.op("Unsqueeze", {x, integers(axes)});
}

OnnxValue GraphBuilder::sum(const OnnxValue& x, std::int64_t axis, bool keeps_axis) {
  const OnnxValue axes = integers({axis});
  if (keeps_axis) return graph_.op("ReduceSum", {x, axes});
  return graph_.op("ReduceSum", {x, axes}, {{"keepdims", std::int64_t{0}}});
}

OnnxValue GraphBuilder::to_float(const OnnxValue& x) { return graph_.op("Cast", {x}, {{"to", float_type}}); }

OnnxValue GraphBuilder::size(const OnnxValue& x, std::int64_t axis) {
  return graph_.op("Shape", {x}, {{"start", axis}, {"end", axis + 1}});
}

OnnxValue GraphBuilder::scalar_size(const OnnxValue& x, std::int64_t axis) { return apply("Squeeze", size(x, axis)); }

OnnxValue GraphBuilder::range(const OnnxValue& begin, const OnnxValue& end) {
  return graph_.op("Range", {begin, end, integer(1)});
}

OnnxValue GraphBuilder::product(const OnnxValue& x, const std::string& name) {
  const Matrix transposed = weights_.at(name + ".weight").transpose();
  return matrix_product(x, constant(name + ".weight", transposed));
}

OnnxValue GraphBuilder::linear(const OnnxValue& x, const std::string& name) {
  const OnnxValue without_bias = product(x, name);
  return add(without_bias, weight(name + ".bias"));
}

OnnxValue GraphBuilder::layer_norm(const OnnxValue& x, const std::string& name, double epsilon) {
  return graph_.op("LayerNormalization", {x, weight(name + ".weight"), weight(name + ".bias")},
                   {{"axis", last_axis}, {"epsilon", static_cast<float>(epsilon)}});
}

}  // namespace wasmformer
