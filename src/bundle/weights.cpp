#include "bundle/weights.h"

#include <algorithm>
#include <cstring>

#include "schema/error.h"
#include "tensor/int4_matrix.h"

namespace wasmformer {
namespace {

void check_packed_shape(const TensorEntry& tensor, const std::string& name, Index rows, Index bytes) {
  WASMFORMER_CHECK(tensor.shape == std::vector<Index>({rows, bytes}), ErrorCode::model,
                   "tensor '" << name << "' of type " << dtype_name(tensor.dtype) << " is not [" << rows << ", "
                              << bytes << "], which the config asks for");
}

std::optional<float> read_input_multiplier(const SafetensorsFile& file, const std::string& name) {
  const std::string key = name + input_multiplier_suffix;
  if (!file.tensors.contains(key)) return std::nullopt;
  const Matrix number = finite_matrix(file, key);
  check_shape(key, number, 1, 1);
  const auto multiplier = static_cast<float>(number(0, 0));
  WASMFORMER_CHECK(multiplier >= 0, ErrorCode::model,
                   "tensor '" << key << "' is " << multiplier << "; expected 0 or more");
  return multiplier;
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

}  // namespace

const TensorEntry& required_tensor(const SafetensorsFile& file, const std::string& name) {
  const auto found = file.tensors.find(name);
  WASMFORMER_CHECK(found != file.tensors.end(), ErrorCode::tensor_missing, "the tensor '" << name << "' is missing",
                   {"tensor", name});
  return found->second;
}

Matrix finite_matrix(const SafetensorsFile& file, const std::string& name) {
  const Dtype dtype = required_tensor(file, name).dtype;
  WASMFORMER_CHECK(dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16, ErrorCode::model,
                   "tensor '" << name << "' is of type " << dtype_name(dtype) << ", not F32, F16 or BF16");
  Matrix value = file.matrix(name);
  WASMFORMER_CHECK(value.allFinite(), ErrorCode::tensor_not_finite,
                   "tensor '" << name << "' has a value that is not finite", {"tensor", name});
  return value;
}

void check_shape(const std::string& name, const Matrix& value, Index rows, Index cols) {
  WASMFORMER_CHECK(
      value.rows() == rows && value.cols() == cols, ErrorCode::model,
      "tensor '" << name << "' is " << shape(value) << ", the config asks for [" << rows << ", " << cols << "]");
}

std::vector<std::int32_t> whole_numbers(const TensorEntry& tensor, const std::string& name) {
  WASMFORMER_CHECK(tensor.dtype == Dtype::i32 && tensor.shape.size() == 1, ErrorCode::model,
                   "tensor '" << name << "' is no list of I32");
  std::vector<std::int32_t> numbers(tensor.data.size() / sizeof(std::int32_t));
  std::memcpy(numbers.data(), tensor.data.data(), tensor.data.size());
  return numbers;
}

Int8Values int8_values(const SafetensorsFile& file, const std::string& name, Index rows, Index cols) {
  const TensorEntry& tensor = required_tensor(file, name);
  check_packed_shape(tensor, name, rows, cols);
  const auto* values = reinterpret_cast<const std::int8_t*>(tensor.data.data());
  WASMFORMER_CHECK(std::find(values, values + rows * cols, std::int8_t{-128}) == values + rows * cols, ErrorCode::model,
                   "tensor '" << name << "' has the value -128; weights must be from -127 to 127");
  const std::string scale_name = name + ".scale";
  const Matrix scales = finite_matrix(file, scale_name);
  check_shape(scale_name, scales, 1, rows);
  return {values, scales.row(0).cast<float>()};
}

PackedMatrix int8_weight(const SafetensorsFile& file, const std::string& name, Index rows, Index cols) {
  const auto [values, scales] = int8_values(file, name, rows, cols);
  return {rows, cols, values, scales.data(), read_input_multiplier(file, name)};
}

PackedMatrix int4_weight(const SafetensorsFile& file, const std::string& name, Index rows, Index cols) {
  const TensorEntry& tensor = required_tensor(file, name);
  check_packed_shape(tensor, name, rows, int4_bytes(1, cols));
  const std::string scale_name = name + ".scale";
  const Matrix scales = finite_matrix(file, scale_name);
  check_shape(scale_name, scales, rows, int4_groups(cols));
  std::vector<Eigen::half> halves;
  for (Index i = 0; i < scales.size(); ++i) halves.emplace_back(static_cast<float>(scales.data()[i]));
  const auto* values = reinterpret_cast<const std::uint8_t*>(tensor.data.data());
  Int8Matrix weights = to_int8(rows, cols, {values, tensor.data.size()}, halves);
  weights.input_multiplier = read_input_multiplier(file, name);
  return PackedMatrix(weights);
}

std::string weight_bytes(const Matrix& value, Precision precision, const std::string& name) {
  const bool is_half = precision == Precision::f16;
  std::string bytes(static_cast<std::size_t>(value.size()) * (is_half ? 2 : 4), '\0');
  for (Index i = 0; i < value.size(); ++i) {
    const float number = static_cast<float>(value.data()[i]);
    if (!is_half) {
      std::memcpy(&bytes[static_cast<std::size_t>(i) * 4], &number, 4);
    } else {
      const Eigen::half half(number);
      WASMFORMER_CHECK((Eigen::numext::isfinite)(half), ErrorCode::model,
                       "tensor '" << name << "' has the value " << number << ", which F16 cannot represent");
      std::memcpy(&bytes[static_cast<std::size_t>(i) * 2], &half, 2);
    }
  }
  return bytes;
}

void TensorList::add(const std::string& name, Dtype dtype, std::vector<Index> shape, std::string data) {
  entries.emplace_back(name, TensorEntry{dtype, std::move(shape), bytes.emplace_back(std::move(data))});
}

void TensorList::add(const std::string& name, const Int8Matrix& weights) {
  add(name, Dtype::i8, {weights.rows, weights.cols}, bytes_of(weights.values));
  add(name + ".scale", Dtype::f32, {weights.rows}, bytes_of(weights.scales));
}

void TensorList::add(const ParameterInfo& info, const Parameter& parameter, Precision precision) {
  const std::string& name = info.name;
  const Index rows = parameter.rows;
  const Index cols = parameter.cols;
  const bool is_int8 = parameter.packed.format() == PackedMatrix::Format::int8;
  const bool is_int4 = precision == Precision::int4 && info.can_be_packed();
  if (is_int4) {
    const Matrix values = parameter.matrix();
    const Int4Matrix weights = quantize_int4(ConstView(values.data(), rows, cols));
    add(name, Dtype::u8, {rows, int4_bytes(1, cols)}, bytes_of(weights.values));
    add(name + ".scale", Dtype::f16, {rows, int4_groups(cols)}, bytes_of(weights.scales));
  } else if (is_int8) {
    add(name, parameter.packed.int8_matrix());
  }
  if (const std::optional<float> multiplier = parameter.packed.input_multiplier())
    add(name + input_multiplier_suffix, Dtype::f32, {1}, bytes_of(std::vector<float>{*multiplier}));
  if (is_int4 || is_int8) return;
  // Vectors have one dimension in the file, except this one, which Hugging Face stores as a row.
  const bool is_vector = rows == 1 && info.module != Module::vocabulary;
  const Dtype dtype = precision == Precision::f16 ? Dtype::f16 : Dtype::f32;
  add(name, dtype, is_vector ? std::vector<Index>{cols} : std::vector<Index>{rows, cols},
      weight_bytes(parameter.matrix(), precision, name));
}

}  // namespace wasmformer
