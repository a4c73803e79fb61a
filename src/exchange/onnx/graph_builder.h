// Operations of an ONNX graph by short names, with the weights of a model as its constants.
#pragma once

#include <map>
#include <string>

#include "exchange/onnx/onnx.h"

namespace wasmformer {

// The name of what an operation gives, of an input, or of a constant.
using OnnxValue = std::string;

// Nodes and tensors stand in the file in the order of the calls. As C++ evaluates the arguments of a function in any
// order, at most one argument of a call may be a call itself.
class GraphBuilder {
 public:
  using Integers = OnnxGraph::Integers;

  // The weights by the names of their parameters; they must outlive this.
  explicit GraphBuilder(const std::map<std::string, Matrix>& weights) : weights_(weights) {}

  // Adds any node that has no shorter name here.
  OnnxGraph& graph() { return graph_; }

  // Constants: [], [n], and a parameter, [rows, cols] or, of one row, [cols].
  OnnxValue number(float value) { return graph_.number(value); }
  OnnxValue integer(std::int64_t value) { return graph_.integer(value); }
  OnnxValue integers(const Integers& values) { return graph_.integers(values); }
  OnnxValue weight(const std::string& name);
  // A parameter in another shape.
  OnnxValue weight(const std::string& name, const Integers& shape);
  OnnxValue constant(const std::string& name, const Matrix& value);

  OnnxValue add(const OnnxValue& a, const OnnxValue& b) { return graph_.op("Add", {a, b}); }
  OnnxValue subtract(const OnnxValue& a, const OnnxValue& b) { return graph_.op("Sub", {a, b}); }
  OnnxValue multiply(const OnnxValue& a, const OnnxValue& b) { return graph_.op("Mul", {a, b}); }
  OnnxValue matrix_product(const OnnxValue& a, const OnnxValue& b) { return graph_.op("MatMul", {a, b}); }
  OnnxValue divide(const OnnxValue& a, const OnnxValue& b) { return graph_.op("Div", {a, b}); }
  OnnxValue apply(const std::string& function, const OnnxValue& x) { return graph_.op(function, {x}); }
  OnnxValue softmax(const OnnxValue& x);  // over the last axis

  // Rows `at` of a table.
  OnnxValue gather(const OnnxValue& table, const OnnxValue& at) { return graph_.op("Gather", {table, at}); }
  OnnxValue transpose(const OnnxValue& x, const Integers& axes) {
    return graph_.op("Transpose", {x}, {{"perm", axes}});
  }
  // 0 keeps a size, -1 is the rest.
  OnnxValue reshape(const OnnxValue& x, const Integers& sizes);
  // New axes of size 1.
  OnnxValue unsqueeze(const OnnxValue& x, const Integers& axes);
  // `keeps_axis`: as one of size 1.
  OnnxValue sum(const OnnxValue& x, std::int64_t axis, bool keeps_axis);
  OnnxValue to_float(const OnnxValue& x);

  // The size of an axis, [1] or [].
  OnnxValue size(const OnnxValue& x, std::int64_t axis);
  OnnxValue scalar_size(const OnnxValue& x, std::int64_t axis);
  // begin, begin + 1, ..., end - 1.
  OnnxValue range(const OnnxValue& begin, const OnnxValue& end);

  // x Wᵀ, and x Wᵀ + b; `name` without .weight and .bias.
  OnnxValue product(const OnnxValue& x, const std::string& name);
  OnnxValue linear(const OnnxValue& x, const std::string& name);
  OnnxValue layer_norm(const OnnxValue& x, const std::string& name, double epsilon);

  // Gives a value the name of an output.
  void name_output(const OnnxValue& x, const std::string& name) { graph_.op("Identity", {x}, {}, name); }

 private:
  OnnxGraph graph_;
  const std::map<std::string, Matrix>& weights_;
};

}  // namespace wasmformer
