// The one-file model: a safetensors file with the config and both tokenizers in its metadata.
// Metadata keys: format "wasmformer", version, config (JSON), source_tokenizer and target_tokenizer (base64
// of SentencePiece .model bytes; only the first where they are the same), source_vocabulary and
// target_vocabulary (JSON arrays of pieces, where there are any; only the first where they are the same),
// languages ("de-en"), and what the trainer adds.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "io/safetensors.h"
#include "model/transformer.h"
#include "text/tokenizer.h"

namespace wasmformer {

inline constexpr const char* model_format = "wasmformer";
inline constexpr const char* model_version = "1";

struct ModelFile {
  std::unique_ptr<Transformer> transformer;
  std::shared_ptr<const Tokenizer> source_tokenizer;
  std::shared_ptr<const Tokenizer> target_tokenizer;  // the same object where one serves both
  std::map<std::string, std::string> metadata;  // all of it but format, version, config and the tokenizers
};

enum class Precision { f32, f16 };

// In which form weights are wanted: as they are trained, or packed, for translation alone. Those of int8 are
// packed always.
enum class Weights { plain, packed };

// Throws Error for anything but a whole, consistent model file of this version. Tensors named optimizer.*
// belong to the trainer and are passed over.
ModelFile parse_model(std::string_view bytes, Weights weights = Weights::plain);

// Sets every weight from the tensor of its name. Throws Error when one is missing or of another shape, or a
// tensor is none of the model.
void read_weights(const SafetensorsFile& file, Transformer& transformer, Weights weights);

// extra: further tensors, named optimizer.*, and further metadata. Throws Error when a weight is beyond
// `precision`. Weights of int8 are written as such: X as I8 and X.scale as F32, one a row.
std::string serialize_model(const ModelFile& model, Precision precision, const SafetensorsFile& extra = {});

// The values of a weight as a file holds them. Throws Error, naming it, when one is beyond `precision`.
std::string weight_bytes(const Matrix& value, Precision precision, const std::string& name);

std::string base64_encode(std::string_view bytes);
std::string base64_decode(std::string_view text);  // throws Error when it is not base64

}  // namespace wasmformer
