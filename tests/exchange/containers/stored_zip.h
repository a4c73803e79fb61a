// Zip archives and NumPy arrays, written out so that tests can change every part of them.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "exchange/containers/zip.h"

namespace wasmformer {

template <class T>
std::string number(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct StoredZip {
  std::map<std::string, std::string> files;
  std::uint16_t method = 0;
  std::uint32_t extra_size = 0;    // added to the size that the directory tells
  std::uint32_t extra_offset = 0;  // and to the offsets

  StoredZip() = default;
  explicit StoredZip(const std::string& archive) {
    for (const auto& [name, data] : parse_zip(archive)) files[name] = data;
  }

  std::string bytes() const {
    std::string all, directory;
    for (const auto& [name, data] : files) {
      const auto size = static_cast<std::uint32_t>(data.size());
      const auto sizes = number<std::uint32_t>(size) + number<std::uint32_t>(size + extra_size);
      const auto middle = number<std::uint16_t>(0) + number(method) + number<std::uint32_t>(0) +
                          number<std::uint32_t>(0);  // flags, method, time, checksum
      const auto length = number(static_cast<std::uint16_t>(name.size()));
      directory += "PK\x01\x02" + number<std::uint16_t>(20) + number<std::uint16_t>(20) + middle + sizes + length +
                   std::string(12, '\0') + number(static_cast<std::uint32_t>(all.size() + extra_offset)) + name;
      all += "PK\x03\x04" + number<std::uint16_t>(20) + middle + sizes + length + std::string(2, '\0') + name + data;
    }
    const auto count = number(static_cast<std::uint16_t>(files.size()));
    return all + directory + "PK\x05\x06" + std::string(4, '\0') + count + count +
           number(static_cast<std::uint32_t>(directory.size())) + number(static_cast<std::uint32_t>(all.size())) +
           std::string(2, '\0');
  }
};

inline std::string npy(const std::string& type, const std::vector<std::size_t>& shape, const std::string& data) {
  std::string sizes;
  for (const std::size_t n : shape) sizes += std::to_string(n) + ", ";
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }\n";
  return std::string("\x93NUMPY\x01\0", 8) + number(static_cast<std::uint16_t>(header.size())) + header + data;
}

}  // namespace wasmformer
