#include "cli/attention_file.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/progress.h"

namespace wasmformer {

CLI::Option* add_attention(CLI::App& command, std::string& path, const std::string& what) {
  return command
      .add_option(
          "--attention", path,
          "write " + what + " to this file: one JSON object per line if its name ends in .ndjson, else an array")
      ->type_name("FILE");
}

AttentionFile::AttentionFile(const std::string& path)
    : path_(path), has_lines_(path.ends_with(".ndjson")), file_(path) {}

void AttentionFile::add(const nlohmann::json& entry) {
  constexpr std::size_t large = 100'000'000;
  const std::string text = entry.dump();
  if (!has_lines_) file_.write(texts_ == 0 ? "[" : ",");
  file_.write(text);
  if (has_lines_) file_.write("\n");
  ++texts_;
  bytes_ += text.size();
  if (has_lines_ || has_warned_ || bytes_ <= large) return;
  has_warned_ = true;
  ProgressLine().warn(path_ + " has more than 100 MB already; a name that ends in .ndjson gives lines that can " +
                      "be read one by one");
}

void AttentionFile::commit() {
  if (!has_lines_) file_.write(texts_ == 0 ? "[]\n" : "]\n");
  file_.commit();
}

}  // namespace wasmformer
