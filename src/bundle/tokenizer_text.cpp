#include "bundle/tokenizer_text.h"

#include "bundle/base64.h"
#include "bundle/deflate.h"
#include "bundle/safetensors.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr const char* zlib_compression = "zlib";

}  // namespace

std::string tokenizer_bytes(const std::string& text, const std::map<std::string, std::string>& metadata) {
  constexpr std::size_t most_bytes = 100'000'000;
  std::string bytes = base64_decode(text);
  const auto compression = metadata.find(tokenizer_compression_key);
  if (compression == metadata.end()) return bytes;
  WASMFORMER_CHECK(compression->second == zlib_compression, ErrorCode::model,
                   tokenizer_compression_key << " is '" << compression->second << "'; only '" << zlib_compression
                                             << "' is supported");
  return decompress(bytes, most_bytes);
}

std::string with_compressed_tokenizers(const std::string& file_bytes) {
  const SafetensorsFile file = parse_safetensors(file_bytes);
  if (file.metadata.contains(tokenizer_compression_key)) return file_bytes;
  std::map<std::string, std::string> metadata = file.metadata;
  for (const char* key : {"source_tokenizer", "target_tokenizer"}) {
    const auto text = metadata.find(key);
    if (text != metadata.end()) text->second = base64_encode(compress(base64_decode(text->second)));
  }
  metadata[tokenizer_compression_key] = zlib_compression;
  return with_metadata(file, metadata);
}

}  // namespace wasmformer
