// The commands of the program `wasmformer`. Each adds its options to `app` and runs when the user names it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/model_file.h"

namespace CLI {
class App;
}

namespace wasmformer {

// Errors name the file.
ModelFile load_model(const std::string& path, Weights weights = Weights::plain);
ModelFile parse_model(const std::string& path, const std::string& bytes, Weights weights = Weights::plain);
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

// Splits "KEY=VALUE". Throws Error when it is something else.
std::pair<std::string, std::string> key_value(const std::string& text);
// Puts such pairs into the model's metadata.
void set_metadata(ModelFile& model, const std::vector<std::string>& options);

void add_tokenizer_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_translate_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_average_command(CLI::App& app);
void add_quantize_command(CLI::App& app);
void add_inspect_command(CLI::App& app);
void add_export_commands(CLI::App& app);
void add_import_marian_command(CLI::App& app);
void add_bench_command(CLI::App& app);

}  // namespace wasmformer
