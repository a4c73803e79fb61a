// The command import-marian.
#include "exchange/marian.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/commands.h"
#include "cli/files.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  std::string folder, output, precision = "f32", languages;
};

void import_folder(const ImportOptions& o) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(o.folder, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file()) names.push_back(it->path().filename().string());
  WASMFORMER_CHECK(!error, "[files] cannot read the folder '" << o.folder << "': " << error.message());
  std::map<std::string, std::string> bytes;
  for (const std::string& name : marian_files(names))
    bytes[name] = read_file((fs::path(o.folder) / name).string());
  ModelFile model;
  try {
    model = import_marian({bytes.begin(), bytes.end()});
  } catch (const Error& e) {
    throw Error(o.folder + ": " + e.what());
  }
  bytes.clear();
  if (!o.languages.empty()) model.metadata["languages"] = o.languages;
  if (o.precision == "int8") model.transformer->quantize();
  write_file_atomically(o.output,
                        serialize_model(model, o.precision == "f16" ? Precision::f16 : Precision::f32));
}

}  // namespace

void add_import_marian_command(CLI::App& app) {
  auto o = std::make_shared<ImportOptions>();
  auto* command = app.add_subcommand("import-marian", "Make a model file of a folder of Marian or MarianMT");
  command->add_option("folder", o->folder, "with config.json or decoder.yml, weights and vocabularies")
      ->required();
  command->add_option("--output", o->output, "the model file to write")->required();
  command->add_option("--precision", o->precision, "f32, f16 or int8")
      ->check(CLI::IsMember({"f32", "f16", "int8"}))
      ->capture_default_str();
  command->add_option("--languages", o->languages, "such as de-en, instead of what the folder tells");
  command->callback([o] { import_folder(*o); });
}

}  // namespace wasmformer
