// Conversion of lists for JavaScript: a vector becomes an array that JavaScript owns, a file a Uint8Array.
#pragma once

#include <emscripten/bind.h>

#include <cstdint>
#include <string>
#include <vector>

namespace emscripten::internal {

template <class T>
struct BindingType<std::vector<T>> {
  using Value = BindingType<val>;
  using WireType = Value::WireType;
  static WireType toWireType(const std::vector<T>& items, rvp::default_tag tag) {
    return Value::toWireType(val::array(items.begin(), items.end()), tag);
  }
  static std::vector<T> fromWireType(WireType wire) { return vecFromJSArray<T>(Value::fromWireType(wire)); }
};

// Floats are copied in one piece, into a Float32Array.
template <>
struct BindingType<std::vector<float>> {
  using Value = BindingType<val>;
  using WireType = Value::WireType;
  static WireType toWireType(const std::vector<float>& items, rvp::default_tag tag) {
    return Value::toWireType(val(typed_memory_view(items.size(), items.data())).call<val>("slice"), tag);
  }
  static std::vector<float> fromWireType(WireType wire) {
    return convertJSArrayToNumberVector<float>(Value::fromWireType(wire));
  }
};

}  // namespace emscripten::internal

namespace wasmformer {

EMSCRIPTEN_DECLARE_VAL_TYPE(Bytes);

inline emscripten::val view_of(const std::string& bytes) {
  return emscripten::val(
      emscripten::typed_memory_view(bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data())));
}

// Both copy.
inline Bytes to_bytes(const std::string& bytes) { return Bytes(view_of(bytes).call<emscripten::val>("slice")); }
inline std::string from_bytes(const Bytes& array) {
  std::string bytes(array["length"].as<std::size_t>(), '\0');
  view_of(bytes).call<void>("set", array);
  return bytes;
}

// Names a list's type for TypeScript.
template <class T>
void register_array(const char* type) {
  emscripten::internal::_embind_register_user_type(emscripten::internal::TypeID<std::vector<T>>::get(), type);
}

}  // namespace wasmformer
