// WASMFORMER_CHECK throws an Error (wasmformer/error.h) unless its condition holds. Its sentence is made of parts that
// `<<` joins (schema/sentence.h), and stands behind the tag of the code's room; its details, if any, are names and
// values:
//   WASMFORMER_CHECK(a.rows() == b.rows(), ErrorCode::add, "shapes " << shape(a) << " and " << shape(b) << " differ");
//   WASMFORMER_CHECK(size <= most, ErrorCode::too_long, size << " tokens; the model takes at most " << most,
//                    {"tokens", size}, {"most", most});
#pragma once

#include <string>
#include <vector>

#include "schema/sentence.h"
#include "wasmformer/error.h"

namespace wasmformer {

// Throws an Error. A function, so that each check stays small.
[[noreturn]] void throw_error(ErrorCode code, const std::string& sentence, Details details = {});

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

#define WASMFORMER_CHECK(condition, code, message, ...)                                                \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      ::wasmformer::Sentence wasmformer_sentence;                                                      \
      wasmformer_sentence << message;                                                                  \
      ::wasmformer::throw_error(code, wasmformer_sentence.text(), ::wasmformer::Details{__VA_ARGS__}); \
    }                                                                                                  \
  } while (false)
