// A folder of fixtures as import_folder() takes it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "exchange/folder.h"
#include "tests/support.h"

namespace wasmformer {

struct Folder {
  std::map<std::string, std::string> files;

  explicit Folder(const std::string& name, const std::string& family = "marian") {
    for (const auto& entry : std::filesystem::directory_iterator(own_fixtures_path() + "/" + family + "/" + name))
      files[entry.path().filename().string()] = read_file(entry.path().string());
  }
  ModelFile import() const { return import_folder({files.begin(), files.end()}); }
};

}  // namespace wasmformer
