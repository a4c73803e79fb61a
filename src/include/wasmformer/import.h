// Reads the models of other programs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "wasmformer/export.h"

namespace wasmformer {

// Reads a folder of Marian, of Firefox, or of MarianMT, BERT or DistilBERT in the form of Hugging Face, whose files are
// not compressed, and returns the bytes of a model file of 32-bit floats, or of int8 where the folder has them. Throws
// Error, naming the folder, if a file is missing, damaged or of a kind that the library has no model for.
[[nodiscard]] WASMFORMER_API std::vector<std::byte> import_model(const std::filesystem::path& folder);

}  // namespace wasmformer
