// ONNX graphs, node by node, as the bytes of a .onnx file: onnx.proto of github.com/onnx/onnx, opset 17.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

class OnnxGraph {
 public:
  enum class Type { float32 = 1, int64 = 7 };  // by the format's numbers
  using Names = std::vector<std::string>;
  using Integers = std::vector<std::int64_t>;
  using Dimensions = std::vector<std::variant<Index, std::string>>;  // a name stands for a size known at run time only
  // An attribute that is a graph is the body of a loop; its names must not occur elsewhere.
  using Attributes = std::vector<std::pair<std::string, std::variant<std::int64_t, float, Integers, const OnnxGraph*>>>;

  // Adds a node with one output and returns that output's name, which is `output` unless empty.
  std::string op(const std::string& type, const Names& inputs, const Attributes& attributes = {},
                 std::string output = "");
  void node(const std::string& type, const Names& inputs, const Names& outputs, const Attributes& attributes = {});

  // Adds a tensor to the file, once per name, and returns its name. Throws Error if the file would exceed the
  // 2 GiB that the format allows.
  std::string constant(const std::string& name, const Integers& shape, const Scalar* values);
  std::string integers(const Integers& values);  // [n]
  std::string integer(std::int64_t value);       // []
  std::string number(float value);               // []

  void input(const std::string& name, Type type, const Dimensions& dimensions);
  void output(const std::string& name, Type type, const Dimensions& dimensions);

  std::string bytes() const;

 private:
  std::string add_tensor(const std::string& name, Type type, const Integers& shape, const void* values,
                         std::size_t size);
  std::string graph() const;  // a GraphProto

  std::string nodes_, tensors_, inputs_, outputs_;  // fields of a GraphProto
  std::vector<std::string> known_;                  // names of tensors, sorted
  std::size_t count_ = 0;
};

}  // namespace wasmformer
