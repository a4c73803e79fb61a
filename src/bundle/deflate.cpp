#include "bundle/deflate.h"

#include <zlib.h>

#include <algorithm>

#include "schema/error.h"

namespace wasmformer {

std::string compress(std::string_view bytes) {
  const auto size = static_cast<uLong>(bytes.size());
  uLongf used = compressBound(size);
  std::string stream(used, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(stream.data()), &used,
                               reinterpret_cast<const Bytef*>(bytes.data()), size, Z_BEST_COMPRESSION);
  WASMFORMER_CHECK(status == Z_OK, ErrorCode::model, "zlib cannot compress " << bytes.size() << " bytes");
  stream.resize(used);
  return stream;
}

std::string decompress(std::string_view stream, std::size_t most_bytes) {
  constexpr std::size_t first_size = 1 << 16;
  std::string bytes;
  for (std::size_t size = std::min(first_size, most_bytes);; size = std::min(2 * size, most_bytes)) {
    bytes.resize(size);
    auto used = static_cast<uLongf>(size);
    const int status = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &used,
                                  reinterpret_cast<const Bytef*>(stream.data()), static_cast<uLong>(stream.size()));
    if (status == Z_OK) {
      bytes.resize(used);
      return bytes;
    }
    // Z_BUF_ERROR is also what a stream that ends too early gives, so the last size decides.
    const bool is_too_small = status == Z_BUF_ERROR && size < most_bytes;
    WASMFORMER_CHECK(is_too_small, ErrorCode::model,
                     "compressed data are damaged, or stand for more than " << most_bytes << " bytes");
  }
}

}  // namespace wasmformer
