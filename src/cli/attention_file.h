// The file that --attention writes: attention maps of one text after the other, so that none waits in memory.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "cli/files.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace wasmformer {

// Adds --attention; `what` is written of each text.
CLI::Option* add_attention(CLI::App& command, std::string& path, const std::string& what);

// An object for each text: in a file that ends in .ndjson on a line of its own, else as the items of a JSON array.
class AttentionFile {
 public:
  explicit AttentionFile(const std::string& path);

  // Warns once if an array has become so long that few programs can read it.
  void add(const nlohmann::json& entry);
  // Throws Error as FileWriter does.
  void commit();

 private:
  std::string path_;
  bool has_lines_;
  FileWriter file_;
  std::size_t texts_ = 0, bytes_ = 0;
  bool has_warned_ = false;
};

}  // namespace wasmformer
