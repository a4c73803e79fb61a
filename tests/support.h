// What tests share: where the fixtures lie, and whole files as strings.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

// The folder of fixtures: the environment variable WASMFORMER_FIXTURES, by default the project's own.
inline std::string fixtures_path() {
  const char* path = std::getenv("WASMFORMER_FIXTURES");
  return path && *path ? path : WASMFORMER_TEST_FIXTURES;
}

// Throws when the file cannot be read.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}
