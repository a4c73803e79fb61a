// Commands over models of other programs: import-marian, import-bert, export-marian and export-onnx.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <set>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "exchange/import.h"
#include "exchange/marian/marian_export.h"
#include "exchange/marian/student_export.h"
#include "exchange/onnx/onnx_export.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  std::string folder, output, precision = "f32", languages;
};

// The files of a folder that may be a model.
struct FolderNames {
  std::vector<std::string> names;  // without .gz
  std::set<std::string> packed;    // which read_file() unpacks
};

FolderNames names_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  std::set<std::string> packed;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_regular_file()) continue;
    names.push_back(it->path().filename().string());
    if (!names.back().ends_with(".gz")) continue;
    names.back().resize(names.back().size() - 3);
    packed.insert(names.back());
  }
  WASMFORMER_CHECK(!error, ErrorCode::files, "cannot read the folder '" << folder << "': " << error.message());
  return {std::move(names), std::move(packed)};
}

// The files that a model needs, by their names.
std::map<std::string, std::string> read_folder(const std::string& folder, const FolderNames& found) {
  std::map<std::string, std::string> paths, bytes;
  std::uintmax_t all = 0, done = 0;
  for (const std::string& name : folder_files(found.names)) {
    paths[name] = (fs::path(folder) / (name + (found.packed.contains(name) ? ".gz" : ""))).string();
    all += fs::file_size(paths[name]);
  }
  ProgressOf progress("reading");
  for (const auto& [name, path] : paths)
    bytes[name] = read_file(path, [&](std::size_t read) {
      done += read;
      progress.update(static_cast<double>(done) / static_cast<double>(all), megabytes_of(done, all));
    });
  return bytes;
}

void import_model(const ImportOptions& o) {
  const FolderNames found = names_in(o.folder);
  std::map<std::string, std::string> bytes = read_folder(o.folder, found);
  ProgressLine().update(-1, "converting");
  ModelFile model = naming(o.folder, [&] { return import_folder({bytes.begin(), bytes.end()}); });
  bytes.clear();
  if (!o.languages.empty()) model.metadata["languages"] = o.languages;
  if (o.precision == "int8" && model.precision != "int8") model.transformer->quantize();
  const std::string file = serialize_model(model, float_precision(o.precision));
  ProgressOf progress("writing");
  write_file_atomically(o.output, file, [&](std::size_t written) {
    progress.update(static_cast<double>(written) / static_cast<double>(file.size()),
                    megabytes_of(written, file.size()));
  });
}

CLI::App* add_import(CLI::App& app, const char* name, const char* description, const char* folder,
                     const std::shared_ptr<ImportOptions>& o) {
  auto* command = app.add_subcommand(name, description);
  command->add_option("folder", o->folder, folder)->required();
  command->add_option("--output", o->output, "the model file to write")->required()->type_name("FILE");
  add_precision(*command, o->precision, /*has_int8=*/true);
  command->callback([o] { import_model(*o); });
  return command;
}

struct ExportOptions {
  std::string model, output, precision = "f32", format = "huggingface", calibration;
};

std::map<std::string, std::string> marian_folder(const ModelFile& model, const ExportOptions& o) {
  const bool is_student = o.format != "huggingface";
  const auto has = [&](const char* precision) { return o.precision == precision; };
  WASMFORMER_CHECK(is_student ? has("f32") || (has("int8") && o.format == "bin") : !has("int8"),
                   ErrorCode::export_marian,
                   "--precision " << o.precision << " does not work with --format " << o.format);
  WASMFORMER_CHECK(o.calibration.empty() || o.precision == "int8", ErrorCode::export_marian,
                   "--calibration needs --precision int8");
  if (!is_student) return export_marian(model, float_precision(o.precision));
  if (o.format == "npz") return export_npz_student(model);
  if (o.precision == "f32") return export_student(model);
  ThreadPool pool;
  return export_int8_student(model, pool,
                             o.calibration.empty() ? std::vector<std::string>() : read_lines(o.calibration));
}

template <class Export>
CLI::App* add_export(CLI::App& app, const char* name, const char* description, const std::shared_ptr<ExportOptions>& o,
                     Export files_of) {
  auto* command = app.add_subcommand(name, description);
  add_model(*command, o->model);
  command->add_option("--output", o->output, "the folder to write")->required()->type_name("FOLDER");
  command->callback([o, files_of] {
    const ModelFile model = load_model(o->model);
    const auto files = naming(o->model, [&] { return files_of(model); });
    std::error_code error;
    fs::create_directories(o->output, error);
    WASMFORMER_CHECK(!error, ErrorCode::export_, "cannot make the folder " << o->output << ": " << error.message());
    for (const auto& entry : fs::directory_iterator(o->output)) {  // readers would mix in files of another model
      const std::string file = entry.path().filename().string(), kind = entry.path().extension().string();
      WASMFORMER_CHECK(files.contains(file) || (kind != ".bin" && kind != ".npz" && kind != ".spm"), ErrorCode::export_,
                       o->output << " has " << file << " of another model; choose an empty folder");
    }
    for (const auto& [file, bytes] : files) write_file_atomically(o->output + "/" + file, bytes);
    if (model.words || model.tag_words || model.mix != ScoreMix())
      std::fputs("the files hold what --encoder-alone gives, without the scores of words beside the encoder\n", stderr);
  });
  return command;
}

}  // namespace

void add_exchange_commands(CLI::App& app) {
  auto exported = std::make_shared<ExportOptions>();
  auto imported = std::make_shared<ImportOptions>();
  auto* marian = add_export(app, "export-marian",
                            "Write a model as a Hugging Face MarianMT folder, or as a student for Bergamot or Marian",
                            exported, [exported](const ModelFile& model) { return marian_folder(model, *exported); });
  add_precision(*marian, exported->precision, /*has_int8=*/true);
  marian
      ->add_option("--format", exported->format,
                   "huggingface; bin, which Firefox and Bergamot read; or npz, which Marian reads")
      ->check(CLI::IsMember({"huggingface", "bin", "npz"}))
      ->capture_default_str();
  marian
      ->add_option("--calibration", exported->calibration,
                   "source texts, one per line, that calibrate how int8 products round their inputs")
      ->type_name("FILE");
  add_examples(*marian, {"wasmformer export-marian de-en.safetensors --output opus --precision f16",
                         "wasmformer export-marian student.safetensors --output firefox \\",
                         "    --format bin --precision int8 --calibration news.de"});
  auto* onnx = add_export(app, "export-onnx",
                          "Write a model as ONNX graphs: encoder, and decoder with cache; or encoder with its labels",
                          exported, export_onnx);
  add_examples(*onnx, {"wasmformer export-onnx de-en.safetensors --output onnx",
                       "wasmformer export-onnx sentiment.safetensors --output onnx-sentiment"});

  auto* translator = add_import(app, "import-marian", "Make a model file from a Marian or MarianMT folder",
                                "with config.json, decoder.yml or a .bin file, weights and vocabularies", imported);
  translator->add_option("--languages", imported->languages, "such as de-en; overrides what the folder says");
  add_examples(*translator, {"wasmformer import-marian opus-mt-de-en --output de-en.safetensors",
                             "wasmformer import-marian firefox-deen --languages de-en --precision int8 \\",
                             "    --output de-en.safetensors"});
  auto* classifier = add_import(app, "import-bert",
                                "Make a model file from a BERT or DistilBERT folder for text or token classification",
                                "with config.json, vocab.txt and weights", imported);
  add_examples(*classifier, {"wasmformer import-bert distilbert-sentiment --output sentiment.safetensors",
                             "wasmformer import-bert bert-ner --precision int8 --output names.safetensors"});
}

}  // namespace wasmformer
