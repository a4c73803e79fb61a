// Fields of a protocol buffer message, written at its end. https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wasmformer::protobuf {

inline void add_varint(std::string& message, std::uint64_t value) {
  for (; value > 127; value >>= 7) message += static_cast<char>(value | 128);
  message += static_cast<char>(value);
}
inline void add_number(std::string& message, int field, std::uint64_t value) {
  add_varint(message, static_cast<std::uint64_t>(field) << 3);
  add_varint(message, value);
}
// Strings, packed numbers and messages alike.
inline void add_bytes(std::string& message, int field, std::string_view bytes) {
  add_varint(message, static_cast<std::uint64_t>(field) << 3 | 2);
  add_varint(message, bytes.size());
  message += bytes;
}
inline void add_float(std::string& message, int field, float value) {
  add_varint(message, static_cast<std::uint64_t>(field) << 3 | 5);
  message.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace wasmformer::protobuf
