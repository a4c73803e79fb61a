// Streams that take the place of the standard ones in SentencePiece where it is compiled for WebAssembly. The standard
// ones bring all of C++'s locales along, which was a twelfth of each module. Messages for the error stream are dropped:
// every error reaches the caller as a Status.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace plain {

class ostream {
 public:
  ostream() = default;
  explicit ostream(bool drops_text) : drops_text_(drops_text) {}

  ostream& operator<<(std::string_view text) {
    if (!drops_text_) text_ += text;
    return *this;
  }
  template <class Text>
  requires requires(const Text& text) {
    { text.data() } -> std::same_as<const char*>;
    text.size();
  } &&(!std::convertible_to<const Text&, std::string_view>)  // absl::string_view
      ostream&
      operator<<(const Text& text) {
    return *this << std::string_view(text.data(), text.size());
  }
  ostream& operator<<(const char* text) { return *this << std::string_view(text); }
  ostream& operator<<(char c) { return *this << std::string_view(&c, 1); }
  ostream& operator<<(std::integral auto value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), static_cast<long long>(value), base_).ptr;
    if (is_uppercase_)
      for (char* c = digits; c != end; ++c) *c = *c >= 'a' ? static_cast<char>(*c - 'a' + 'A') : *c;
    return *this << std::string_view(digits, end);
  }
  ostream& operator<<(std::floating_point auto value) {
    char digits[32];
    const int length = std::snprintf(digits, sizeof(digits), "%g", static_cast<double>(value));
    return *this << std::string_view(digits, static_cast<std::size_t>(length));
  }
  ostream& operator<<(ostream& (*change)(ostream&)) { return change(*this); }

  std::string str() const { return text_; }

  friend ostream& endl(ostream& stream) { return stream << '\n'; }
  friend ostream& hex(ostream& stream) {
    stream.base_ = 16;
    return stream;
  }
  friend ostream& uppercase(ostream& stream) {
    stream.is_uppercase_ = true;
    return stream;
  }

 protected:
  std::string text_;
  int base_ = 10;

 private:
  bool drops_text_ = false;
  bool is_uppercase_ = false;
};
ostream& endl(ostream& stream);
ostream& hex(ostream& stream);
ostream& uppercase(ostream& stream);

using ostringstream = ostream;

// Reads one number, which is all that is asked of it.
class stringstream : public ostream {
 public:
  stringstream() = default;
  explicit stringstream(std::string_view text) { *this << text; }

  using ostream::operator<<;
  stringstream& operator<<(const char* text) {
    text_ += text;
    return *this;
  }
  stringstream& operator>>(stringstream& (*change)(stringstream&)) { return change(*this); }
  stringstream& operator>>(ostream& (*change)(ostream&)) {
    change(*this);
    return *this;
  }
  stringstream& operator>>(std::integral auto& value) {
    const std::from_chars_result read = std::from_chars(text_.data(), text_.data() + text_.size(), value, base_);
    has_failed_ = read.ec != std::errc();
    return *this;
  }
  stringstream& operator>>(std::floating_point auto& value) {
    char* end = nullptr;
    value = static_cast<std::remove_reference_t<decltype(value)>>(std::strtod(text_.c_str(), &end));
    has_failed_ = end == text_.c_str();
    return *this;
  }
  explicit operator bool() const { return !has_failed_; }

 private:
  bool has_failed_ = false;
};
using istringstream = stringstream;

inline ostream cerr(true), cout(true);

}  // namespace plain
