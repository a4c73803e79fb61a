// SentencePiece follows the normalization rules of a .model file without checking them: a damaged file would
// read memory that is not its own. This checks them first.
#pragma once

#include <string_view>

namespace wasmformer {

// `model`: the bytes of a SentencePiece .model file. False when any look-up in its rules could leave them.
bool rules_are_sound(std::string_view model);

}  // namespace wasmformer
