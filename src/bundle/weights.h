// Weights as tensors of a safetensors file: read with checks that name the tensor, and collected to be written.
#pragma once

#include <list>
#include <string>
#include <utility>
#include <vector>

#include "autograd/parameter.h"
#include "bundle/safetensors.h"
#include "gemm/packed.h"
#include "nn/parameter_info.h"

namespace wasmformer {

inline constexpr const char* input_multiplier_suffix = ".input_multiplier";

// Precision of floats in a file; with int4, the weights that can be packed have 4 bits (tensor/int4_matrix.h), all
// others are f32.
enum class Precision { f32, f16, int4 };

// All throw Error if the tensor is missing or not as they want it.
const TensorEntry& required_tensor(const SafetensorsFile& file, const std::string& name);
Matrix finite_matrix(const SafetensorsFile& file, const std::string& name);
void check_shape(const std::string& name, const Matrix& value, Index rows, Index cols);
std::vector<std::int32_t> whole_numbers(const TensorEntry& tensor, const std::string& name);
PackedMatrix int8_weight(const SafetensorsFile& file, const std::string& name, Index rows, Index cols);
PackedMatrix int4_weight(const SafetensorsFile& file, const std::string& name, Index rows, Index cols);

// int8 numbers, of the file, with the scale of each row.
struct Int8Values {
  const std::int8_t* values;
  Eigen::VectorXf scales;
};
Int8Values int8_values(const SafetensorsFile& file, const std::string& name, Index rows, Index cols);

// The bytes of a weight. Throws Error, with its name, if `precision` cannot represent a value.
std::string weight_bytes(const Matrix& value, Precision precision, const std::string& name);

// Tensors in the order of the file. Their data is in `bytes`, or outlives the list.
struct TensorList {
  std::list<std::string> bytes;  // its strings never move
  std::vector<std::pair<std::string, TensorEntry>> entries;

  void add(const std::string& name, Dtype dtype, std::vector<Index> shape, std::string data);
  void add(const std::string& name, const Int8Matrix& weights);
  void add(const ParameterInfo& info, const Parameter& parameter, Precision precision);
  // Whole numbers of 32 bits.
  template <class Number>
  void add(const std::string& name, const std::vector<Number>& numbers) {
    static_assert(sizeof(Number) == sizeof(std::int32_t));
    const std::string_view data(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
    entries.push_back({name, {Dtype::i32, {static_cast<Index>(numbers.size())}, data}});
  }
};

}  // namespace wasmformer
