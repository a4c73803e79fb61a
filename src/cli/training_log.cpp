#include "cli/training_log.h"

#include <filesystem>

#include "cli/files.h"
#include "tensor/check.h"

namespace wasmformer {

TrainingLog::TrainingLog(std::string path, bool resume, Index step) : path_(std::move(path)) {
  if (!resume || !std::filesystem::exists(path_)) return;
  std::size_t number = 0;
  for (const std::string& line : read_lines(path_)) {
    ++number;
    const auto entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    WASMFORMER_CHECK(entry.is_object() && entry.contains("step") && entry["step"].is_number_integer() &&
                         entry.contains("seconds") && entry["seconds"].is_number(),
                     "[train] line " << number << " of " << path_
                                     << " is damaged: it must be a JSON object with step and seconds; "
                                     << "correct or remove it");
    if (entry["step"] > step) break;
    text_ += line + "\n";
    seconds_ = entry["seconds"];
  }
}

void TrainingLog::add(const nlohmann::ordered_json& entry) {
  text_ += entry.dump() + "\n";
  write();
}

void TrainingLog::write() const { write_file_atomically(path_, text_); }

}  // namespace wasmformer
