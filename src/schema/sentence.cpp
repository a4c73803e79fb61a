#include "schema/sentence.h"

#include <cstdio>

namespace wasmformer {

Sentence& Sentence::operator<<(std::string_view part) {
  text_ += part;
  return *this;
}

Sentence& Sentence::add(long long number) { return *this << std::to_string(number); }
Sentence& Sentence::add(unsigned long long number) { return *this << std::to_string(number); }

Sentence& Sentence::add(double number) {
  char digits[32];
  const int length = std::snprintf(digits, sizeof(digits), "%g", number);
  return *this << std::string_view(digits, static_cast<std::size_t>(length));
}

}  // namespace wasmformer
