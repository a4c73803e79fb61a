// Text that is made of parts, for the sentences of errors. A standard stream would bring C++'s locales into the
// modules.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace wasmformer {

class Sentence {
 public:
  Sentence& operator<<(std::string_view part);
  Sentence& operator<<(const char* part) { return *this << std::string_view(part); }
  Sentence& operator<<(char part) { return *this << std::string_view(&part, 1); }
  template <std::integral Number>
  Sentence& operator<<(Number number) {
    if constexpr (std::signed_integral<Number>)
      return add(static_cast<long long>(number));
    else
      return add(static_cast<unsigned long long>(number));
  }
  // With six digits, as `%g` of printf() writes it. A template, so that nothing becomes a number unasked.
  template <std::floating_point Number>
  Sentence& operator<<(Number number) {
    return add(static_cast<double>(number));
  }

  const std::string& text() const { return text_; }

 private:
  Sentence& add(long long number);
  Sentence& add(unsigned long long number);
  Sentence& add(double number);

  std::string text_;
};

}  // namespace wasmformer
