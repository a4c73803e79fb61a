// The commands of the program `wasmformer`. Each adds its options to `app` and runs when the user names it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bundle/model_file.h"
#include "tasks/translate/translation.h"

namespace CLI {
class App;
}

namespace wasmformer {

ModelFile load_model(const std::string& path, Weights weights = Weights::full);
ModelFile parse_model(const std::string& path, const std::string& bytes, Weights weights = Weights::full);
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

// The values of options "KEY=VALUE", in their order. Throws Error when one is something else.
std::vector<std::pair<std::string, std::string>> key_values(const std::vector<std::string>& options);

// Like key_values(), but for --metadata, where an option may also name a JSON file of strings.
// Throws Error for keys that describe the model itself, too.
std::vector<std::pair<std::string, std::string>> metadata_of(const std::vector<std::string>& options);
constexpr char metadata_help[] =
    "KEY=VALUE to store in the model, such as its corpus and licence, or a .json file with such pairs";

// JSON of attention maps, as --attention writes it.
nlohmann::json attention_json(const AttentionMaps& maps);

void add_tokenizer_command(CLI::App& app);
void add_train_command(CLI::App& app);
void add_translate_command(CLI::App& app);
void add_evaluate_command(CLI::App& app);
void add_annotation_commands(CLI::App& app);
void add_model_commands(CLI::App& app);
void add_exchange_commands(CLI::App& app);
void add_shortlist_command(CLI::App& app);
void add_bench_command(CLI::App& app);

}  // namespace wasmformer
