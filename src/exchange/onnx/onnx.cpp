#include "exchange/onnx/onnx.h"

#include <algorithm>
#include <bit>

#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr std::size_t max_file_bytes = (std::size_t{1} << 31) - 1;
constexpr std::size_t max_other_bytes = std::size_t{1} << 24;  // a generous limit for everything but tensors

// Fields of a protocol buffer message, written at its end. https://protobuf.dev/programming-guides/encoding
void add_varint(std::string& message, std::uint64_t value) {
  for (; value > 127; value >>= 7) message += static_cast<char>(value | 128);
  message += static_cast<char>(value);
}
void add_number(std::string& message, int field, std::uint64_t value) {
  add_varint(message, static_cast<std::uint64_t>(field) << 3);
  add_varint(message, value);
}
// Strings, packed numbers and messages alike.
void add_bytes(std::string& message, int field, std::string_view bytes) {
  add_varint(message, static_cast<std::uint64_t>(field) << 3 | 2);
  add_varint(message, bytes.size());
  message += bytes;
}
void add_float(std::string& message, int field, float value) {
  add_varint(message, static_cast<std::uint64_t>(field) << 3 | 5);
  message.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string value_info(const std::string& name, OnnxGraph::Type type, const OnnxGraph::Dimensions& dimensions) {
  std::string shape, tensor, kind, info;
  for (const auto& size : dimensions) {
    std::string dimension;
    if (const Index* known = std::get_if<Index>(&size))
      add_number(dimension, 1, static_cast<std::uint64_t>(*known));
    else
      add_bytes(dimension, 2, std::get<std::string>(size));
    add_bytes(shape, 1, dimension);
  }
  add_number(tensor, 1, static_cast<std::uint64_t>(type));
  add_bytes(tensor, 2, shape);
  add_bytes(kind, 1, tensor);
  add_bytes(info, 1, name);
  add_bytes(info, 2, kind);
  return info;
}

}  // namespace

std::string OnnxGraph::op(const std::string& type, const Names& inputs, const Attributes& attributes,
                          std::string output) {
  if (output.empty()) output = type + "_" + std::to_string(count_++);
  node(type, inputs, {output}, attributes);
  return output;
}

void OnnxGraph::node(const std::string& type, const Names& inputs, const Names& outputs, const Attributes& attributes) {
  std::string node;
  for (const std::string& input : inputs) add_bytes(node, 1, input);
  for (const std::string& output : outputs) add_bytes(node, 2, output);
  add_bytes(node, 4, type);
  for (const auto& [name, value] : attributes) {
    enum { is_float = 1, is_integer = 2, is_graph = 5, is_integers = 7 } kind = is_integer;
    std::string attribute;
    add_bytes(attribute, 1, name);
    if (const float* number = std::get_if<float>(&value)) {
      add_float(attribute, 2, *number);
      kind = is_float;
    } else if (const Integers* list = std::get_if<Integers>(&value)) {
      for (const std::int64_t i : *list) add_number(attribute, 8, static_cast<std::uint64_t>(i));
      kind = is_integers;
    } else if (const auto* body = std::get_if<const OnnxGraph*>(&value)) {
      add_bytes(attribute, 6, (*body)->graph());
      kind = is_graph;
    } else {
      add_number(attribute, 3, static_cast<std::uint64_t>(std::get<std::int64_t>(value)));
    }
    add_number(attribute, 20, kind);
    add_bytes(node, 5, attribute);
  }
  add_bytes(nodes_, 1, node);
}

std::string OnnxGraph::add_tensor(const std::string& name, Type type, const Integers& shape, const void* values,
                                  std::size_t size) {
  const auto place = std::lower_bound(known_.begin(), known_.end(), name);
  if (place != known_.end() && *place == name) return name;
  known_.insert(place, name);
  WASMFORMER_CHECK(size < max_file_bytes && tensors_.size() + size + max_other_bytes < max_file_bytes, ErrorCode::onnx,
                   "with '" << name
                            << "' the weights of one graph are above the 2 GiB that an ONNX file can "
                               "hold");
  std::string tensor;
  for (const std::int64_t n : shape) add_number(tensor, 1, static_cast<std::uint64_t>(n));
  add_number(tensor, 2, static_cast<std::uint64_t>(type));
  add_bytes(tensor, 8, name);
  add_bytes(tensor, 9, {static_cast<const char*>(values), size});
  add_bytes(tensors_, 5, tensor);
  return name;
}

std::string OnnxGraph::constant(const std::string& name, const Integers& shape, const Scalar* values) {
  static_assert(sizeof(Scalar) == sizeof(float));
  std::size_t size = sizeof(float);
  for (const std::int64_t n : shape) size *= static_cast<std::size_t>(n);
  return add_tensor(name, Type::float32, shape, values, size);
}

std::string OnnxGraph::integers(const Integers& values) {
  std::string name = "integers";
  for (const std::int64_t value : values) name += "_" + std::to_string(value);
  return add_tensor(name, Type::int64, {static_cast<std::int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(std::int64_t));
}

std::string OnnxGraph::integer(std::int64_t value) {
  return add_tensor("integer_" + std::to_string(value), Type::int64, {}, &value, sizeof value);
}

std::string OnnxGraph::number(float value) {
  return add_tensor("number_" + std::to_string(std::bit_cast<std::uint32_t>(value)), Type::float32, {}, &value,
                    sizeof value);
}

void OnnxGraph::input(const std::string& name, Type type, const Dimensions& dimensions) {
  add_bytes(inputs_, 11, value_info(name, type, dimensions));
}

void OnnxGraph::output(const std::string& name, Type type, const Dimensions& dimensions) {
  add_bytes(outputs_, 12, value_info(name, type, dimensions));
}

std::string OnnxGraph::graph() const {
  std::string graph = nodes_;
  add_bytes(graph, 2, "wasmformer");
  return graph + tensors_ + inputs_ + outputs_;
}

std::string OnnxGraph::bytes() const {
  constexpr std::uint64_t ir_version = 8, opset = 17;
  std::string operators;
  add_bytes(operators, 1, "");
  add_number(operators, 2, opset);
  std::string model;
  add_number(model, 1, ir_version);
  add_bytes(model, 2, "wasmformer");
  add_bytes(model, 7, graph());
  add_bytes(model, 8, operators);
  return model;
}

}  // namespace wasmformer
