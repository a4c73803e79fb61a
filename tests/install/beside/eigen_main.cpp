// Imports a Marian model, which copies and transposes matrices, beside a file that uses another Eigen; this file uses
// both.
#include <wasmformer/exchange/folder.h>

#include <Eigen/Core>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

float sum_of_transposed(int size);

int main(int, char** arguments) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    contents[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  const wasmformer::FolderFiles files(contents.begin(), contents.end());
  const wasmformer::ModelFile model = wasmformer::import_folder(files);
  const bool is_imported = model.source_tokenizer->vocab_size() > 0;
  const bool is_right = sum_of_transposed(40) == 1600 && Eigen::MatrixXf::Ones(3, 5).sum() == 15;
  std::cout << is_imported << is_right << '\n';
  return is_imported && is_right ? 0 : 1;
}
