// Commands that write models for others: export-marian and export-onnx.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/commands.h"
#include "cli/files.h"
#include "exchange/marian_export.h"
#include "exchange/onnx_export.h"

namespace wasmformer {
namespace {

struct Options {
  std::string model, output, precision = "f32";
};

void write_folder(const std::string& folder, const std::map<std::string, std::string>& files) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  WASMFORMER_CHECK(!error, "[export] cannot make the folder " << folder << ": " << error.message());
  for (const auto& [name, bytes] : files) write_file_atomically(folder + "/" + name, bytes);
}

template <class Export>
void export_files(const Options& o, Export files) {
  const ModelFile model = load_model(o.model);
  try {
    write_folder(o.output, files(model));
  } catch (const Error& e) {
    throw Error(o.model + ": " + e.what());
  }
}

CLI::App* add_export(CLI::App& app, const char* name, const char* description,
                     const std::shared_ptr<Options>& o) {
  auto* command = app.add_subcommand(name, description);
  command->add_option("model", o->model, "model file")->required();
  command->add_option("--output", o->output, "the folder to write")->required();
  return command;
}

}  // namespace

void add_export_commands(CLI::App& app) {
  auto o = std::make_shared<Options>();
  auto* marian = add_export(app, "export-marian", "Write a model as a MarianMT folder of Hugging Face", o);
  marian->add_option("--precision", o->precision, "f32 or f16")
      ->check(CLI::IsMember({"f32", "f16"}))
      ->capture_default_str();
  marian->callback([o] {
    const Precision precision = o->precision == "f16" ? Precision::f16 : Precision::f32;
    export_files(*o, [&](const ModelFile& model) { return export_marian(model, precision); });
  });
  auto* onnx =
      add_export(app, "export-onnx", "Write a model as ONNX graphs: encoder, and decoder with cache", o);
  onnx->callback([o] { export_files(*o, export_onnx); });
}

}  // namespace wasmformer
