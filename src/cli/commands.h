// The commands of the program `wasmformer`. Each adds its options to `app` and runs when it was chosen.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/model_file.h"

namespace CLI {
class App;
}

namespace wasmformer {

// Files by path; errors name the file.
ModelFile load_model(const std::string& path, Weights weights = Weights::plain);
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

// "KEY=VALUE" as a pair. Throws Error when it is not that.
std::pair<std::string, std::string> key_value(const std::string& text);
// Such pairs, over what a model says of itself.
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

}  // namespace wasmformer
