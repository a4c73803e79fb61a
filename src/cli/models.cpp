// Commands over model files: average, quantize and inspect.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "io/model_file.h"

namespace wasmformer {
namespace {

struct AverageOptions {
  std::string output, precision = "f32";
  std::vector<std::string> checkpoints, metadata;
};

// The mean of every weight over all checkpoints (Vaswani et al. 2017, section 6.1).
void average(const AverageOptions& o) {
  ModelFile sum = load_model(o.checkpoints.back());  // whose metadata stays
  const Scalar share = Scalar(1) / static_cast<Scalar>(o.checkpoints.size());
  for (std::size_t i = 0; i + 1 < o.checkpoints.size(); ++i) {
    const ModelFile other = load_model(o.checkpoints[i]);
    WASMFORMER_CHECK(other.transformer->config() == sum.transformer->config() &&
                         *other.source_tokenizer == *sum.source_tokenizer &&
                         *other.target_tokenizer == *sum.target_tokenizer,
                     "[average] " << o.checkpoints[i] << " and " << o.checkpoints.back()
                                  << " differ in their config or tokenizers");
    std::vector<const Parameter*> parameters;
    other.transformer->visit(
        [&](const std::string&, Parameter& p, Initializer) { parameters.push_back(&p); });
    std::size_t n = 0;
    sum.transformer->visit([&](const std::string& name, Parameter& p, Initializer) {
      const Parameter& next = *parameters[n++];
      WASMFORMER_CHECK(!p.is_packed() && !next.is_packed(),
                       "[average] " << name << " is of int8 in one of the files; average the float models");
      p.value += next.value;
    });
  }
  sum.transformer->visit([&](const std::string&, Parameter& p, Initializer) { p.value *= share; });
  for (const char* key : {"progress", "valid_loss", "valid_bleu"}) sum.metadata.erase(key);
  sum.metadata["averaged"] = std::to_string(o.checkpoints.size()) + " checkpoints";
  set_metadata(sum, o.metadata);
  write_file_atomically(o.output,
                        serialize_model(sum, o.precision == "f16" ? Precision::f16 : Precision::f32));
}

struct QuantizeOptions {
  std::string model, output;
  std::vector<std::string> metadata;
};

void quantize(const QuantizeOptions& o) {
  ModelFile model = load_model(o.model);
  try {
    model.transformer->quantize();
  } catch (const Error& e) {
    throw Error(o.model + ": " + e.what());
  }
  set_metadata(model, o.metadata);
  write_file_atomically(o.output, serialize_model(model, Precision::f32));
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
  nlohmann::ordered_json json{
      {"parameters", model.transformer->parameter_count()},
      {"bytes", bytes.size()},
      {"tensors", types},
      {"config", nlohmann::ordered_json::parse(to_json(model.transformer->config()))}};
  for (const auto& [key, value] : model.metadata) json["metadata"][key] = value;
  if (o.json) {
    print(json.dump(2) + "\n");
    return;
  }
  std::string text = o.model + ": " + std::to_string(model.transformer->parameter_count()) + " parameters, " +
                     std::to_string(bytes.size()) + " bytes\n";
  for (const auto& [type, count] : types)
    text += "  " + std::to_string(count) + " tensors of type " + type + "\n";
  for (const char* part : {"config", "metadata"})
    for (const auto& [key, value] : json[part].items())
      text += "  " + key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  print(text);
}

}  // namespace

void add_average_command(CLI::App& app) {
  auto o = std::make_shared<AverageOptions>();
  auto* command = app.add_subcommand("average", "Average the weights of checkpoints of one run");
  command->add_option("--output", o->output, "the model file to write")->required();
  command->add_option("--precision", o->precision, "f32 or f16")
      ->check(CLI::IsMember({"f32", "f16"}))
      ->capture_default_str();
  command->add_option("--metadata", o->metadata, "KEY=VALUE to store in the model");
  command->add_option("checkpoints", o->checkpoints, "model files of the same sizes")->required();
  command->callback([o] { average(*o); });
}

void add_quantize_command(CLI::App& app) {
  auto o = std::make_shared<QuantizeOptions>();
  auto* command = app.add_subcommand("quantize", "Store the weights of a model as int8");
  command->add_option("--model", o->model, "model file of F32 or F16")->required();
  command->add_option("--output", o->output, "the model file to write")->required();
  command->add_option("--metadata", o->metadata, "KEY=VALUE to store in the model");
  command->callback([o] { quantize(*o); });
}

void add_inspect_command(CLI::App& app) {
  auto o = std::make_shared<InspectOptions>();
  auto* command = app.add_subcommand("inspect", "Print sizes, config and metadata of a model file");
  command->add_option("model", o->model, "model file")->required();
  command->add_flag("--json", o->json, "print one JSON object");
  command->callback([o] { inspect(*o); });
}

}  // namespace wasmformer
