// NumPy's .npz: a zip of .npy arrays. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string>
#include <string_view>

#include "bundle/safetensors.h"

namespace wasmformer {

// The arrays by name (without .npy), as views into `bytes`; their types are f4, f2, i4, i8 or bytes. Throws
// Error, naming the fault, for other types, Fortran order, and sizes that do not match the data.
SafetensorsFile parse_npz(std::string_view bytes);

// The inverse, for float32 and int8 only. Throws Error for other types and archives of 4 GB or more.
std::string serialize_npz(const SafetensorsFile& file);

}  // namespace wasmformer
