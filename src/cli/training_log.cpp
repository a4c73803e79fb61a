#include "cli/training_log.h"

#include <filesystem>

#include "cli/files.h"

namespace wasmformer {

TrainingLog::TrainingLog(std::string path, bool resume, Index step) : path_(std::move(path)) {
  if (!resume || !std::filesystem::exists(path_)) return;
  for (const std::string& line : read_lines(path_)) {
    const auto entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!entry.is_object() || entry.value("step", Index(0)) > step) break;
    text_ += line + "\n";
    seconds_ = entry.value("seconds", 0.0);
  }
}

void TrainingLog::add(const nlohmann::ordered_json& entry) {
  text_ += entry.dump() + "\n";
  write_file_atomically(path_, text_);
}

}  // namespace wasmformer
