// The safetensors container: 8 bytes of header length, a JSON header, then raw little-endian data.
// Every length, offset and shape is checked before anything is allocated for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/matrix.h"

namespace wasmformer {

enum class Dtype { f32, f16, i8, i32, i64, bf16, u8 };

struct TensorEntry {
  Dtype dtype = Dtype::f32;
  std::vector<Index> shape;  // [] for a scalar
  std::string_view data;     // little-endian, row-major; a view into the file's bytes
};

// A parsed file. Views live as long as the bytes that were parsed.
struct SafetensorsFile {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;

  // The values of an F32, F16, BF16 or I32 tensor as a matrix: a vector becomes one row, a scalar [1, 1].
  // Throws Error if it is missing, has more than two dimensions or another type.
  Matrix matrix(const std::string& name) const;
};

// "F32", "F16", ...
const char* dtype_name(Dtype dtype);
std::size_t dtype_bytes(Dtype dtype);  // per number

// Throws Error, naming the fault, unless the file is complete and consistent.
SafetensorsFile parse_safetensors(std::string_view bytes);

// The bytes of a file with these tensors, in this order.
std::string serialize_safetensors(const std::vector<std::pair<std::string, TensorEntry>>& tensors,
                                  const std::map<std::string, std::string>& metadata);

// The bytes of the file with other metadata; its tensors stay as they are.
std::string with_metadata(const SafetensorsFile& file, const std::map<std::string, std::string>& metadata);

}  // namespace wasmformer
