// Commands over model files: average, quantize, set-metadata and inspect.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bundle/tokenizer_text.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "schema/json.h"
#include "schema/options.h"
#include "train/setup_steps.h"

namespace wasmformer {
namespace {

struct AverageOptions {
  std::string output, precision = "f32";
  std::vector<std::string> checkpoints, metadata;
};

// The mean of every weight over all checkpoints (Vaswani et al. 2017, section 6.1).
void average(const AverageOptions& o) {
  ModelFile sum = load_model(o.checkpoints.back());  // its metadata is kept
  const auto without_dropout = [](Config c) {
    c.dropout = c.attention_dropout = c.activation_dropout = 0;
    return c;
  };
  const Scalar share = Scalar(1) / static_cast<Scalar>(o.checkpoints.size());
  for (std::size_t i = 0; i + 1 < o.checkpoints.size(); ++i) {
    const ModelFile other = load_model(o.checkpoints[i]);
    WASMFORMER_CHECK(without_dropout(other.transformer->config()) == without_dropout(sum.transformer->config()) &&
                         *other.source_tokenizer == *sum.source_tokenizer &&
                         *other.target_tokenizer == *sum.target_tokenizer,
                     ErrorCode::average,
                     o.checkpoints[i] << " and " << o.checkpoints.back() << " differ in their config or tokenizers");
    std::vector<const Parameter*> parameters;
    other.transformer->visit([&](const ParameterInfo&, const Parameter& p) { parameters.push_back(&p); });
    std::size_t n = 0;
    sum.transformer->visit([&](const ParameterInfo& info, Parameter& p) {
      const Parameter& next = *parameters[n++];
      WASMFORMER_CHECK(!p.is_packed() && !next.is_packed(), ErrorCode::average,
                       info.name << " is int8 in one of the files; average the float models");
      p.value += next.value;
    });
  }
  sum.transformer->visit([&](const ParameterInfo&, Parameter& p) { p.value *= share; });
  sum.metadata.erase(progress_key);
  for (const char* key : figures_of_weights) sum.metadata.erase(key);
  sum.metadata["averaged"] = std::to_string(o.checkpoints.size()) + " checkpoints";
  for (const auto& [key, value] : metadata_of(o.metadata)) sum.metadata[key] = value;
  write_file_atomically(o.output, serialize_model(sum, float_precision(o.precision)));
}

struct SetMetadataOptions {
  std::string model;
  std::vector<std::string> metadata;
};

// The file with another header; its tensors stay as they are.
std::string with_new_metadata(const std::string& path, const std::string& bytes,
                              const std::vector<std::string>& metadata) {
  parse_model(path, bytes);  // throws unless it is a model file
  SafetensorsFile file = parse_safetensors(bytes);
  for (const auto& [key, value] : metadata_of(metadata)) {
    if (value.empty())
      file.metadata.erase(key);
    else
      file.metadata[key] = value;
  }
  return with_metadata(file, file.metadata);
}

void set_metadata(const SetMetadataOptions& o) {
  write_file_atomically(o.model, with_new_metadata(o.model, read_file(o.model), o.metadata));
}

struct QuantizeOptions {
  std::string model, output;
  int bits = 8;
  std::vector<std::string> metadata;
};

// A file of int8 can still become one of 4 bits, or get metadata.
void quantize(const QuantizeOptions& o) {
  ModelFile model = load_model(o.model);
  // A file keeps its weights exactly if only its metadata changes.
  const bool is_smallest = model.precision == "int4" || (model.precision == "int8" && o.bits == 8);
  if (is_smallest && !o.metadata.empty())
    return write_file_atomically(o.output, with_new_metadata(o.model, read_file(o.model), o.metadata));
  WASMFORMER_CHECK(model.precision != "int4", ErrorCode::quantize, o.model << " has weights of 4 bits already");
  model.metadata.erase(progress_key);
  if (o.bits == 8) naming(o.model, [&] { model.transformer->quantize(); });
  for (const auto& [key, value] : metadata_of(o.metadata)) model.metadata[key] = value;
  const bool is_int4 = o.bits == 4;
  const std::string file = serialize_model(model, is_int4 ? Precision::int4 : Precision::f32);
  write_file_atomically(o.output, is_int4 ? with_compressed_tokenizers(file) : file);
}

struct InspectOptions {
  std::string model;
  bool json = false;
};

void inspect(const InspectOptions& o) {
  const std::string bytes = read_file(o.model);
  const ModelFile model = parse_model(o.model, bytes);
  std::map<std::string, Index> types;
  for (const auto& [name, tensor] : parse_safetensors(bytes).tensors) ++types[dtype_name(tensor.dtype)];
  const Config& config = model.transformer->config();
  nlohmann::ordered_json json{{"parameters", model.transformer->parameter_count()},
                              {"bytes", bytes.size()},
                              {"tensors", types},
                              {"config", json_of(fields(config))}};
  for (const auto& [key, value] : model.metadata) json["metadata"][key] = value;
  if (o.json) {
    print(json.dump(2) + "\n");
    return;
  }
  std::string text = o.model + ": " + std::to_string(model.transformer->parameter_count()) + " parameters, " +
                     std::to_string(bytes.size()) + " bytes\n";
  for (const auto& [type, count] : types) text += "  " + std::to_string(count) + " tensors of type " + type + "\n";
  for (const char* part : {"config", "metadata"})
    for (const auto& [key, value] : json[part].items())
      text += "  " + key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  print(text);
}

}  // namespace

void add_model_commands(CLI::App& app) {
  auto a = std::make_shared<AverageOptions>();
  auto* average_command = app.add_subcommand("average", "Average the weights of several checkpoints");
  average_command->add_option("--output", a->output, "the model file to write")->required()->type_name("FILE");
  add_precision(*average_command, a->precision);
  average_command->add_option("--metadata", a->metadata, metadata_help)->type_name("KEY=VALUE");
  average_command->add_option("checkpoints", a->checkpoints, "model files of the same sizes")->required();
  add_examples(*average_command, {"wasmformer average --output mean.safetensors run/epoch-*.safetensors",
                                  "wasmformer average --output mean.safetensors --precision f16 \\",
                                  "    run/best.safetensors run/last.safetensors"});
  average_command->callback([a] { average(*a); });

  auto q = std::make_shared<QuantizeOptions>();
  auto* quantize_command = app.add_subcommand(
      "quantize", "Store the weights of a model as int8 or as 4 bits, or metadata beside such weights");
  add_model(*quantize_command, q->model, "float model file; int8 is allowed with --bits 4 or --metadata");
  quantize_command->add_option("--output", q->output, "the model file to write")->required()->type_name("FILE");
  quantize_command->add_option("--bits", q->bits, "4 halves the file of 8; both are int8 in memory")
      ->check(CLI::IsMember({4, 8}))
      ->capture_default_str();
  quantize_command->add_option("--metadata", q->metadata, metadata_help)->type_name("KEY=VALUE");
  add_examples(*quantize_command, {"wasmformer quantize run/best.safetensors --output de-en.safetensors",
                                   "wasmformer quantize run/best.safetensors --output small.safetensors --bits 4"});
  quantize_command->callback([q] { quantize(*q); });

  auto s = std::make_shared<SetMetadataOptions>();
  auto* metadata_command = app.add_subcommand("set-metadata", "Change what a model file says about itself, in place");
  add_model(*metadata_command, s->model);
  metadata_command
      ->add_option("--metadata,metadata", s->metadata,
                   "KEY=VALUE, such as its corpus and licence, KEY= to remove the key, or a .json file of such pairs")
      ->required()
      ->type_name("KEY=VALUE");
  add_examples(*metadata_command, {"wasmformer set-metadata de-en.safetensors licence='CC BY 4.0' corpus=Tatoeba",
                                   "wasmformer set-metadata de-en.safetensors card.json note="});
  metadata_command->callback([s] { set_metadata(*s); });

  auto i = std::make_shared<InspectOptions>();
  auto* inspect_command = app.add_subcommand("inspect", "Print sizes, config and metadata of a model file");
  add_model(*inspect_command, i->model);
  inspect_command->add_flag("--json", i->json, "print one JSON object");
  add_examples(*inspect_command,
               {"wasmformer inspect de-en.safetensors", "wasmformer inspect run/last.safetensors --json"});
  inspect_command->callback([i] { inspect(*i); });
}

}  // namespace wasmformer
