// NumPy's .npz: a zip of .npy arrays. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <string_view>

#include "io/safetensors.h"

namespace wasmformer {

// The arrays by name, without .npy, views into `bytes`: of type f4, f2, i4, i8, or of bytes. Throws Error,
// naming the fault, for other types, arrays in Fortran's order, and sizes that differ from the data's.
SafetensorsFile parse_npz(std::string_view bytes);

}  // namespace wasmformer
