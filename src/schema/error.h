// Errors are sentences. WASMFORMER_CHECK throws one, made of its stream arguments, unless its condition
// holds:
//   WASMFORMER_CHECK(a.rows() == b.rows(), "[add] shapes " << shape(a) << " and " << shape(b) << " differ");
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace wasmformer {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class M>
std::string shape(const M& matrix) {
  return "[" + std::to_string(matrix.rows()) + ", " + std::to_string(matrix.cols()) + "]";
}

// "a, b, c".
inline std::string join(const std::vector<std::string>& parts, const char* separator = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

}  // namespace wasmformer

#define WASMFORMER_CHECK(condition, message)            \
  do {                                                  \
    if (!(condition)) {                                 \
      std::ostringstream wasmformer_text;               \
      wasmformer_text << message;                       \
      throw ::wasmformer::Error(wasmformer_text.str()); \
    }                                                   \
  } while (false)
