// What tests share: where the fixtures lie, and whole files as strings.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

// The project's own fixtures, for tests that need one of them by name.
std::string own_fixtures_path();

// The folder that is searched for fixtures: the environment variable WASMFORMER_FIXTURES, by default the own
// ones.
inline std::string fixtures_path() {
  const char* path = std::getenv("WASMFORMER_FIXTURES");
  return path && *path ? path : own_fixtures_path();
}

// Throws when the file cannot be read.
inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}
