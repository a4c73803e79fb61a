// Imports a Marian model, which copies and transposes matrices, and trains, beside a file that uses another Eigen; this
// file uses both.
#include <wasmformer/wasmformer.h>

#include <Eigen/Core>
#include <iostream>

float sum_of_transposed(int size);

int main(int, char** arguments) {
  const wasmformer::Translator translator(wasmformer::import_model(arguments[1]));
  const bool is_imported = translator.translate("a").tokens.size() > 0;
  wasmformer::TrainingRun run({.task = wasmformer::TaskRequest{.name = "copy", .pairs = 50}}, {}, /*threads=*/2);
  const bool is_trained = run.run({.steps = 3}) == wasmformer::RunEnd::goal && run.steps() == 3;
  const bool is_right = sum_of_transposed(40) == 1600 && Eigen::MatrixXf::Ones(3, 5).sum() == 15;
  std::cout << is_imported << is_trained << is_right << '\n';
  return is_imported && is_trained && is_right ? 0 : 1;
}
