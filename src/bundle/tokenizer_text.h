// Tokenizers in the metadata of model files: base64 of the bytes of a SentencePiece model or, with the metadata
// tokenizer_compression "zlib", of a zlib stream of them.
#pragma once

#include <map>
#include <string>

namespace wasmformer {

inline constexpr const char* tokenizer_compression_key = "tokenizer_compression";

// The bytes of the tokenizer in `text`, a value of the metadata. Throws Error for another compression, and if the text
// is damaged.
std::string tokenizer_bytes(const std::string& text, const std::map<std::string, std::string>& metadata);

// The bytes of a model file with its tokenizers compressed, for a smaller download.
std::string with_compressed_tokenizers(const std::string& file_bytes);

}  // namespace wasmformer
