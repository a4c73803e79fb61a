#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/parallel_text.h"
#include "cli/training_loop.h"
#include "data/tasks.h"
#include "train/plan.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  ParallelTextOptions train, valid;
  std::string tokenizer, target_tokenizer, from;
  std::vector<std::string> set, metadata;
  Index batch_tokens = 0;
  TaskRequest task;
  RunRequest request;
  TrainingLoopOptions loop;
};

// The first file of sentence pairs that the options name, or "".
std::string named_file(const ParallelTextOptions& o) {
  for (const std::string& file : {o.source, o.target, o.tsv})
    if (!file.empty()) return file;
  return "";
}

ParallelText read_pairs(const ParallelTextOptions& o) {
  ParallelText text = read_parallel_text(o);
  WASMFORMER_CHECK(!text.sources.empty(), "[train] " << named_file(o) << " has no sentence pairs");
  return text;
}

// JSON of the config keys that --set and --batch-tokens change.
std::string changes(const TrainOptions& o) {
  Config config;
  TrainingConfig training;
  std::vector<std::string> set = o.set;
  if (o.batch_tokens > 0) set.push_back("batch_tokens=" + std::to_string(o.batch_tokens));
  nlohmann::json changed = nlohmann::json::object();
  for (const std::string& option : set) {
    const auto [key, value] = key_value(option);
    set_option(config, training, key, value);
    changed[key] = nlohmann::json::parse(to_json(config, &training))[key];
  }
  return changed.dump();
}

RunRequest request_of(const TrainOptions& o) {
  RunRequest request = o.request;
  const bool has_files = !named_file(o.train).empty();
  if (!o.task.name.empty()) request.task = o.task;
  if (request.preset.empty() && has_files && o.from.empty() && !request.resume) request.preset = "small";
  request.config = changes(o);
  nlohmann::json metadata = nlohmann::json::object();
  for (const std::string& option : o.metadata) {
    const auto [key, value] = key_value(option);
    metadata[key] = value;
  }
  request.metadata = metadata.dump();
  request.keep_texts = false;  // files are there when the run is resumed
  return request;
}

RunInput input_of(const TrainOptions& o) {
  const bool has_train = !named_file(o.train).empty(), has_valid = !named_file(o.valid).empty();
  const bool resume = o.request.resume;
  const std::string last = (fs::path(o.loop.output) / "last.safetensors").string();
  WASMFORMER_CHECK(
      o.task.name.empty() || (!has_train && !has_valid),
      "[train] --task makes its own pairs; leave " << named_file(has_train ? o.train : o.valid) << " out");
  WASMFORMER_CHECK(resume || !fs::exists(last),
                   "[train] " << last << " exists already; add --resume to continue that run, or choose "
                              << "another --output");
  WASMFORMER_CHECK(resume || !o.task.name.empty() || !o.from.empty() || !o.tokenizer.empty(),
                   "[train] --tokenizer is required");
  RunInput input;
  if (resume || !o.from.empty()) {
    input.model_name = resume ? last : o.from;
    input.model = read_file(input.model_name);
  }
  if (!o.tokenizer.empty()) input.source_tokenizer = load_tokenizer(o.tokenizer)->model();
  if (!o.target_tokenizer.empty()) input.target_tokenizer = load_tokenizer(o.target_tokenizer)->model();
  const bool is_stored = resume && !has_train && !has_valid;
  if (!o.task.name.empty() || is_stored) return input;
  WASMFORMER_CHECK(has_valid || o.request.validation,
                   "[train] there is nothing to validate on: give --valid-source and --valid-target, "
                   "--valid-data, or --validation N to hold back N pairs");
  input.train = read_pairs(o.train);
  if (has_valid) input.valid = read_pairs(o.valid);
  return input;
}

// What --help says after the options.
std::string notes() {
  Config config;
  TrainingConfig training;
  Fields keys = fields(config) + fields(training);
  std::erase_if(keys, [](const Field& field) { return is_decided_by_vocabulary(field.option.name); });
  return "Keys of --set:\n" + key_list(keys) +
         "\nCtrl-C and SIGTERM end training after the step: last.safetensors is saved, --resume continues, "
         "and "
         "the exit code is 130 or 143. It is 0 once a goal is reached.";
}

int train(TrainOptions o) {
  TrainingLoopOptions& loop = o.loop;
  if (!o.task.name.empty() && loop.max_epochs == 0 && loop.max_steps == 0 && loop.max_minutes == 0)
    loop.max_steps = find_task(o.task.name).steps;
  WASMFORMER_CHECK(loop.max_epochs > 0 || loop.max_steps > 0 || loop.max_minutes > 0,
                   "[train] say when to stop: --max-epochs, --max-steps or --max-minutes");
  loop.resume = o.request.resume;
  RunPlan plan(request_of(o), input_of(o));
  return train_until_done(loop, [&](ThreadPool& pool) { return plan.begin({}, pool); });
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

using Options = std::shared_ptr<TrainOptions>;

void add_text_options(CLI::App* command, const Options& o) {
  command->add_option("--source", o->train.source, "source sentences, one per line");
  command->add_option("--target", o->train.target, "their translations, line by line");
  command->add_option("--valid-source", o->valid.source, "source sentences to validate on");
  command->add_option("--valid-target", o->valid.target, "their translations");
  command->add_option("--data", o->train.tsv, "a TSV file of pairs instead of --source and --target");
  command->add_option("--valid-data", o->valid.tsv, "a TSV file of pairs to validate on");
  command->add_option("--columns", o->train.columns, "SOURCE,TARGET columns of the TSV files, from 0")
      ->default_str("0,1");
  command
      ->add_option("--validation", o->request.validation,
                   "hold back N pairs of the text for validation, drawn by the seed")
      ->check(CLI::PositiveNumber);
  std::vector<std::string> names;
  for (const Task& task : tasks()) names.push_back(task.name);
  auto* task =
      command->add_option("--task", o->task.name, "made-up pairs instead of files: " + listed(names));
  command->add_option("--pairs", o->task.pairs, "how many of them to train on; 200 more are for validation")
      ->needs(task)
      ->check(CLI::PositiveNumber)
      ->default_str("as many as it takes");
}

void add_goal_options(CLI::App* command, const Options& o) {
  command
      ->add_option("--output", o->loop.output, "folder for best.safetensors, last.safetensors and log.jsonl")
      ->required();
  command->add_option("--max-epochs", o->loop.max_epochs, "stop after N passes over the corpus")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--max-steps", o->loop.max_steps, "stop after N steps; a task's default is what it takes")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-minutes", o->loop.max_minutes, "stop after N minutes")
      ->check(CLI::PositiveNumber);
  command->add_option("--report-every", o->loop.report_every, "steps between reports")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--keep", o->loop.keep, "keep the models of the last N epochs, to average")
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train a model on sentence pairs");
  auto o = std::make_shared<TrainOptions>();
  add_text_options(command, o);
  auto* tokenizer = command->add_option("--tokenizer", o->tokenizer,
                                        "SentencePiece .model file; a task's default is its characters");
  auto* target_tokenizer =
      command->add_option("--target-tokenizer", o->target_tokenizer, "another one for the target side");
  auto* preset = command->add_option("--preset", o->request.preset,
                                     listed(preset_names()) + "; by default toy for a task, small otherwise");
  command->add_option("--from", o->from, "a model to fine-tune, at a constant rate of 1e-4 unless --set says")
      ->excludes(tokenizer, target_tokenizer, preset);
  command->add_option("--set", o->set, "KEY=VALUE: change one setting of the preset or of --from");
  add_goal_options(command, o);
  command->add_option("--batch-tokens", o->batch_tokens, "tokens of a batch, of its longer side")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", o->loop.threads, "threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--seed", o->request.seed, "seed of weights, order and dropout");
  command->add_option("--languages", o->request.languages, "SOURCE-TARGET, stored in the model: de-en");
  command->add_option("--metadata", o->metadata,
                      "KEY=VALUE to store in the model, such as its corpus and licence");
  command->add_flag("--resume", o->request.resume, "continue the run in --output");
  command->footer(notes());
  command->callback([o] {
    o->valid.columns = o->train.columns;
    if (const int signal = train(*o)) throw CLI::RuntimeError(128 + signal);
  });
}

}  // namespace wasmformer
