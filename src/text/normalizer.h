// SentencePiece follows the normalization rules of a .model file without checking them: with a damaged file
// it would read memory outside them. This checks them first.
#pragma once

namespace sentencepiece {
class ModelProto;
}

namespace wasmformer {

// False if any look-up in the rules of `model` could leave them.
bool rules_are_sound(const sentencepiece::ModelProto& model);

}  // namespace wasmformer
