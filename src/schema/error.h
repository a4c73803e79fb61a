// Errors have a code, values and a sentence. WASMFORMER_CHECK throws one unless its condition holds. Its sentence is
// made of parts that `<<` joins (schema/sentence.h), and stands behind the tag of the code's room; its details, if any,
// are names and values:
//   WASMFORMER_CHECK(a.rows() == b.rows(), ErrorCode::add, "shapes " << shape(a) << " and " << shape(b) << " differ");
//   WASMFORMER_CHECK(size <= most, ErrorCode::too_long, size << " tokens; the model takes at most " << most,
//                    {"tokens", size}, {"most", most});
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schema/error_codes.h"
#include "schema/sentence.h"

namespace wasmformer {

// A value that the sentence of an error tells.
struct Detail {
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> Detail(const char* its_name, Number number)
      : name(its_name), value(static_cast<double>(number)) {}
  Detail(const char* its_name, std::string text) : name(its_name), value(std::move(text)) {}

  const char* name;
  std::variant<double, std::string> value;
};
using Details = std::vector<Detail>;

class Error : public std::runtime_error {
 public:
  // what() is the sentence behind a tag, such as "[config] ": the code's room, or the detail "place" for a code that
  // has none.
  Error(ErrorCode code, const std::string& sentence, Details details = {});

  ErrorCode code() const { return code_; }
  const std::string& sentence() const { return sentence_; }
  const Details& details() const { return details_; }

  // Returns the same error with text around its sentence, and with a further detail.
  Error with(const std::string& before, const std::string& after, Detail detail) const;

 private:
  Error(ErrorCode code, const std::string& whole, const std::string& sentence, Details details);

  ErrorCode code_;
  std::string sentence_;
  Details details_;
};

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
