// A folder of fixtures as import_marian() takes it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "exchange/marian.h"
#include "tests/support.h"

namespace wasmformer {

struct Folder {
  std::map<std::string, std::string> files;

  explicit Folder(const std::string& name) {
    for (const auto& entry : std::filesystem::directory_iterator(own_fixtures_path() + "/marian/" + name))
      files[entry.path().filename().string()] = read_file(entry.path().string());
  }
  ModelFile import() const { return import_marian({files.begin(), files.end()}); }
};

}  // namespace wasmformer
