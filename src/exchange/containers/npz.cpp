#include "exchange/containers/npz.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "exchange/containers/zip.h"
#include "schema/error.h"

namespace wasmformer {
namespace {

constexpr std::size_t max_dimensions = 8;

// The text after 'key': in the header, which is a Python dict.
std::string_view field(std::string_view header, const std::string& key, const std::string& name) {
  const std::string quoted = "'" + key + "':";
  const std::size_t at = header.find(quoted);
  WASMFORMER_CHECK(at != std::string_view::npos, ErrorCode::npz, "array '" << name << "' has no " << key);
  header.remove_prefix(at + quoted.size());
  return header.substr(std::min(header.find_first_not_of(' '), header.size()));
}

Dtype dtype(std::string_view descr, const std::string& name) {
  const std::string_view type = descr.substr(0, descr.find_last_not_of("',} ") + 1);
  if (descr.starts_with("'<f4'")) return Dtype::f32;
  if (descr.starts_with("'<f2'")) return Dtype::f16;
  if (descr.starts_with("'<i4'")) return Dtype::i32;
  if (descr.starts_with("'<i8'")) return Dtype::i64;
  for (const char* bytes : {"'|i1'", "'<i1'", "'|u1'", "'|S1'"})
    if (descr.starts_with(bytes)) return Dtype::i8;
  throw Error(ErrorCode::npz, "array '" + name + "' is of type " + std::string(type.substr(0, type.find(','))) +
                                  "; expected <f4, <f2, <i4, <i8 or |i1");
}

TensorEntry parse_array(std::string_view bytes, const std::string& name) {
  const std::string cut = "array '" + name + "' is truncated or not a .npy file";
  WASMFORMER_CHECK(bytes.size() >= 12 && bytes.starts_with("\x93NUMPY"), ErrorCode::npz, cut);
  const bool is_long = bytes[6] > 1;  // version 2 and later: 4 bytes of header length
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, is_long ? 4 : 2);
  bytes.remove_prefix(is_long ? 12 : 10);
  WASMFORMER_CHECK(length <= bytes.size(), ErrorCode::npz, cut);
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);

  TensorEntry entry{dtype(field(header, "descr", name), name), {}, bytes};
  std::string_view shape = field(header, "shape", name);
  WASMFORMER_CHECK(shape.starts_with('(') && shape.find(')') != std::string_view::npos, ErrorCode::npz,
                   "array '" << name << "' has no shape");
  shape = shape.substr(1, shape.find(')') - 1);
  std::uint64_t size = dtype_bytes(entry.dtype);
  while (shape.find_first_not_of(", ") != std::string_view::npos) {
    shape.remove_prefix(shape.find_first_not_of(", "));
    std::uint32_t n = 0;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), n);
    WASMFORMER_CHECK(error == std::errc() && entry.shape.size() < max_dimensions && n < (1u << 31) &&
                         (n == 0 || size <= bytes.size() / n),
                     ErrorCode::npz,
                     "array '" << name << "' has a shape that does not match its " << bytes.size() << " bytes");
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
    entry.shape.push_back(static_cast<Index>(n));
    size *= n;
  }
  WASMFORMER_CHECK(size == bytes.size(), ErrorCode::npz,
                   "array '" << name << "' needs " << size << " bytes, but has " << bytes.size());
  const bool rows_first = field(header, "fortran_order", name).starts_with("False");
  WASMFORMER_CHECK(rows_first || entry.shape.size() < 2, ErrorCode::npz,
                   "array '" << name << "' is in Fortran order; save it in C order");
  return entry;
}

}  // namespace

SafetensorsFile parse_npz(std::string_view bytes) {
  SafetensorsFile file;
  for (const auto& [path, data] : parse_zip(bytes)) {
    const std::string name = path.ends_with(".npy") ? path.substr(0, path.size() - 4) : path;
    const bool is_new = file.tensors.emplace(name, parse_array(data, name)).second;
    WASMFORMER_CHECK(is_new, ErrorCode::npz, "the name '" << name << "' occurs twice");
  }
  return file;
}

std::string serialize_npz(const SafetensorsFile& file) {
  std::map<std::string, std::string> arrays;
  for (const auto& [name, tensor] : file.tensors) {
    WASMFORMER_CHECK(tensor.dtype == Dtype::f32 || tensor.dtype == Dtype::i8, ErrorCode::npz,
                     "'" << name << "' is neither float32 nor int8");
    std::string header = tensor.dtype == Dtype::f32 ? "{'descr': '<f4'" : "{'descr': '|i1'";
    header += ", 'fortran_order': False, 'shape': (";
    for (const Index n : tensor.shape) header += std::to_string(n) + ",";
    header += "), }";
    constexpr std::size_t before = 10, alignment = 64;
    header.resize((before + header.size()) / alignment * alignment + alignment - before - 1, ' ');
    const auto length = static_cast<std::uint16_t>(header.size() + 1);
    std::string& array = arrays[name + ".npy"] = std::string("\x93NUMPY\x01\0", 8);
    array.append(reinterpret_cast<const char*>(&length), sizeof length).append(header).append("\n").append(tensor.data);
  }
  return serialize_zip(arrays);
}

}  // namespace wasmformer
