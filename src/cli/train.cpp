#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/annotate.h"
#include "cli/commands.h"
#include "cli/config_file.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/teacher.h"
#include "cli/training_loop.h"
#include "tasks/translate/augment.h"
#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"
#include "train/run_setup.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  ParallelTextOptions train, valid;
  AnnotatedFiles labelled, valid_labelled;
  std::string tokenizer, target_tokenizer, from;
  std::string text, monolingual;  // files of plain lines
  std::string mono;               // the earlier name of the one that goes with the other options
  std::vector<std::string> data, augment, set, metadata;
  std::string teacher, config;
  RunRequest request;
  RunOptions run = program_run_options();
  TrainingOutput output;

  bool distils() const { return !teacher.empty(); }
};

// The first file of sentence pairs in the options, or "".
std::string named_file(const ParallelTextOptions& o) {
  for (const std::string& file : {o.source, o.target, o.tsv})
    if (!file.empty()) return file;
  return "";
}

ParallelText read_pairs(const ParallelTextOptions& o) {
  ParallelText text = read_parallel_text(o);
  WASMFORMER_CHECK(!text.sources.empty(), ErrorCode::train, named_file(o) << " has no sentence pairs");
  return text;
}

// FILE, or FILE:WEIGHT where a number stands after the last colon.
std::pair<std::string, double> file_and_weight(const std::string& given) {
  const std::size_t colon = given.rfind(':');
  if (colon == std::string::npos) return {given, 1};
  char* end = nullptr;
  const double weight = std::strtod(given.c_str() + colon + 1, &end);
  if (*end || end == given.c_str() + colon + 1) return {given, 1};
  WASMFORMER_CHECK(weight > 0 && weight <= 1000, ErrorCode::train,
                   "the weight in --data " << given << " must be above 0, at most 1000");
  return {given.substr(0, colon), weight};
}

ParallelText read_training_pairs(const TrainOptions& o) {
  if (o.data.empty()) return read_pairs(o.train);
  ParallelText all;
  for (const std::string& given : o.data) {
    const auto [file, weight] = file_and_weight(given);
    WASMFORMER_CHECK(weight <= 1 || !o.request.validation, ErrorCode::train,
                     "--validation would hold back pairs that --data " << given << " repeats; give --valid-data");
    ParallelTextOptions one = o.train;
    one.tsv = file;
    append(all, weighted(read_pairs(one), weight));
  }
  return all;
}

bool has_pairs(const TrainOptions& o) { return !named_file(o.train).empty() || !o.data.empty(); }
bool has_texts(const TrainOptions& o) {
  return has_pairs(o) || o.labelled.any() || !o.text.empty() || !o.monolingual.empty();
}
bool has_valid_texts(const TrainOptions& o) { return !named_file(o.valid).empty() || o.valid_labelled.any(); }

// The lines of a file that are not empty; none without a file.
std::vector<std::string> read_plain_texts(const std::string& file) {
  if (file.empty()) return {};
  std::vector<std::string> lines = read_lines(file);
  std::erase(lines, "");
  return lines;
}

std::shared_ptr<Texts> read_training_texts(const TrainOptions& o) {
  if (o.distils()) {
    ParallelText pairs;
    if (has_pairs(o)) pairs = read_training_pairs(o);
    return texts_of(with_sources(std::move(pairs), read_plain_texts(o.monolingual)));
  }
  if (o.labelled.any()) return read_annotated(o.labelled);
  if (o.text.empty()) return texts_of(read_training_pairs(o));
  return texts_of_lines(read_plain_texts(o.text), o.request.objective);
}

// The config keys that --set and --batch-tokens change.
nlohmann::json changes(const TrainOptions& o) {
  Preset p;
  const Fields keys = fields(p.config) + fields(p.training);
  const NamedWords given = key_values(o.set);
  set_each(keys, given, "config");
  const auto all = json_of(keys);
  nlohmann::json changed = nlohmann::json::object();
  for (const auto& [key, value] : given) {
    const std::string name = current_name(keys, key, "config");
    changed[name] = all[name];
  }
  return changed;
}

RunRequest request_of(const TrainOptions& o) {
  RunRequest request = o.request;
  const bool has_own_preset = o.labelled.any() || !o.text.empty();
  if (request.preset.empty() && !request.budget && !has_own_preset && has_texts(o) && o.from.empty() && !request.resume)
    request.preset = "small";
  request.config.text = changes(o).dump();
  if (!o.augment.empty()) {
    request.augment.emplace();
    set_each(fields(*request.augment), key_values(o.augment), "augment");
  }
  for (const auto& [key, value] : metadata_of(o.metadata)) request.metadata[key] = value;
  request.keep_texts = false;  // the files are given again when the run is resumed
  return request;
}

std::string checkpoint_of(const TrainOptions& o) { return (fs::path(o.output.folder) / "last.safetensors").string(); }

RunInput input_of(const TrainOptions& o) {
  const bool has_train = has_texts(o), has_valid = has_valid_texts(o);
  const bool resume = o.request.resume, is_task = o.request.task.has_value();
  const std::string last = checkpoint_of(o);
  WASMFORMER_CHECK(!is_task || (!has_train && !has_valid), ErrorCode::train,
                   "--task makes its own pairs; leave " << named_file(has_train ? o.train : o.valid) << " out");
  WASMFORMER_CHECK(resume || !fs::exists(last), ErrorCode::train,
                   last << " exists already; add --resume to continue that run, or choose "
                        << "another --output");
  WASMFORMER_CHECK(!resume || fs::exists(last), ErrorCode::train,
                   last << " does not exist, so there is no run to resume; leave --resume out to begin one, or give "
                        << "the --output of a run");
  const bool brings_tokenizer = resume || is_task || !o.from.empty() || o.labelled.any() || o.distils();
  WASMFORMER_CHECK(brings_tokenizer || !o.tokenizer.empty() || o.request.budget, ErrorCode::train,
                   "--tokenizer is required");
  RunInput input;
  if (resume || !o.from.empty()) {
    input.model_name = resume ? last : o.from;
    input.model = read_file(input.model_name);
  }
  if (!o.tokenizer.empty()) input.source_tokenizer = load_tokenizer(o.tokenizer)->model();
  if (!o.target_tokenizer.empty()) input.target_tokenizer = load_tokenizer(o.target_tokenizer)->model();
  const bool is_stored = resume && !has_train && !has_valid;
  if (is_task || is_stored) return input;
  WASMFORMER_CHECK(has_valid || o.request.validation, ErrorCode::train,
                   "there is nothing to validate on: give --valid-source and --valid-target, "
                   "--valid-data, or --validation N to hold back N pairs");
  if (o.distils()) {
    auto teacher = std::make_shared<const ModelFile>(load_model(o.teacher, Weights::packed));
    WASMFORMER_CHECK(translate_task().trains(teacher->transformer->config()), ErrorCode::train,
                     o.teacher << " does not translate, so it cannot be a teacher");
    input.teacher = std::move(teacher);
  }
  input.train = read_training_texts(o);
  if (o.valid_labelled.any())
    input.valid = read_annotated(o.valid_labelled);
  else if (has_valid)
    input.valid = texts_of(read_pairs(o.valid));
  return input;
}

// Text that --help prints after the options.
std::string notes() {
  Preset p;
  Fields keys = fields(p.config) + fields(p.training);
  std::erase_if(keys, [](const Field& field) { return is_decided_by_vocabulary(field.option.name); });
  Augmentation augmentation;
  std::vector<std::string> names;
  for (const ToyTask& task : toy_tasks()) names.push_back(task.name);
  return "Presets: " + join(preset_names()) + "\nTasks: " + join(names) + "\n\nKeys of --set:\n" + key_list(keys) +
         "\nKeys of --augment:\n" + key_list(fields(augmentation)) +
         "\nCtrl-C and SIGTERM end training after the step: last.safetensors is saved, --resume continues, and the "
         "exit "
         "code is 130 or 143. It is 0 once a goal is reached.";
}

// --mono is the earlier name of --text and, with --teacher, of --monolingual.
void take_earlier_name(TrainOptions& o) {
  const char* flag = o.distils() ? "--monolingual" : "--text";
  std::string& file = o.distils() ? o.monolingual : o.text;
  WASMFORMER_CHECK(o.mono.empty() || file.empty(), ErrorCode::option_twice,
                   "--mono is the earlier name of " << flag << "; give one of them", {"place", "train"},
                   {"option", flag}, {"alias", "--mono"});
  if (!o.mono.empty()) file = std::move(o.mono);
  WASMFORMER_CHECK(!o.distils() || o.text.empty(), ErrorCode::train,
                   "--text trains an encoder, which no teacher teaches; more sources for one are --monolingual");
  WASMFORMER_CHECK(o.distils() || o.monolingual.empty(), ErrorCode::train,
                   "--monolingual has sources for a --teacher; an encoder learns to fill masks in --text");
}

// A run trains on one kind of text; giving several is an error, so that none is silently ignored.
void check_kinds(const TrainOptions& o) {
  const bool has_labels = o.labelled.any() || o.valid_labelled.any();
  const bool any_pairs = has_pairs(o) || !named_file(o.valid).empty();
  WASMFORMER_CHECK(any_pairs + has_labels + !o.text.empty() <= 1, ErrorCode::train,
                   "sentence pairs, labelled or tagged texts, and --text train different models; give one kind");
  WASMFORMER_CHECK(!o.distils() || (has_texts(o) && !o.labelled.any()), ErrorCode::train,
                   "--teacher translates the sources of sentence pairs, and --monolingual; give one of them");
  WASMFORMER_CHECK(!o.distils() || !o.request.validation, ErrorCode::train,
                   "--validation would hold back the teacher's translations; give --valid-data");
  WASMFORMER_CHECK(!o.valid_labelled.any() || o.valid_labelled.fit(o.labelled), ErrorCode::train,
                   "--valid-labels and --valid-tags must go with --labels and --tags");
}

// The settings of a run, but for those that its texts decide.
nlohmann::ordered_json settings_of(TrainingSession& run) {
  const Config& config = run.model().transformer->config();
  nlohmann::ordered_json settings = json_of(fields(config) + fields(run.trainer().config()));
  const nlohmann::ordered_json all = settings;
  for (const auto& [key, value] : all.items())
    if (is_decided_by_vocabulary(key) || (config.is_encoder() && key == "decoder_layers")) settings.erase(key);
  return settings;
}

// Options that the earlier part of a run wrote to options.json.
nlohmann::ordered_json earlier_options(const std::string& file) {
  if (!fs::exists(file)) return nlohmann::ordered_json::object();
  const auto options = nlohmann::ordered_json::parse(read_file(file), nullptr, /*allow_exceptions=*/false);
  const bool has_options = options.is_object() && options.contains("train") && options["train"].is_object();
  return has_options ? options["train"] : nlohmann::ordered_json::object();
}

// The object of options.json: the given options and all settings, so that they hold when defaults change and where a
// budget would choose others. Only the length of its schedule is left to the clock of the repeated run.
nlohmann::ordered_json used_options(const TrainOptions& o, const nlohmann::ordered_json& given, TrainingSession& run) {
  nlohmann::ordered_json used = nlohmann::ordered_json::object();
  if (o.output.resume) used = earlier_options((fs::path(o.output.folder) / "options.json").string());
  const char* const goals[] = {"max-steps", "max-epochs", "max-minutes"};
  const bool has_new_goal =
      std::any_of(std::begin(goals), std::end(goals), [&](auto key) { return given.contains(key); });
  for (const char* key : goals)
    if (has_new_goal && !given.contains(key)) used.erase(key);
  used.update(given);
  // The first four say where and how, not what; the others are among the settings.
  for (const char* key : {"output", "resume", "config", "quiet", "batch-tokens", "accumulate"}) used.erase(key);
  nlohmann::ordered_json settings = settings_of(run);
  const nlohmann::json given_settings = changes(o);
  for (const char* key : {"decay_steps", "warmup_steps"})
    if (used.contains("budget") && !given_settings.contains(key)) settings.erase(key);
  used["set"] = std::move(settings);
  return used;
}

int train(TrainOptions o, const nlohmann::ordered_json& given) {
  take_earlier_name(o);
  // `--task masked` is another way to write --text.
  if (!o.text.empty() && o.request.task && o.request.task->name == "masked") o.request.task.reset();
  check_kinds(o);
  const auto has_goal = [&] { return o.run.epochs || o.run.steps || o.run.minutes || o.request.budget; };
  // Labelled and tagged texts have a patience of their own.
  const bool has_patience = o.run.patience.value_or(o.labelled.any() ? 1 : 0) > 0;
  if (o.request.task && !has_goal()) o.run.steps = find_task(o.request.task->name).steps;
  WASMFORMER_CHECK(has_goal() || has_patience, ErrorCode::train,
                   "say when to stop: --budget, --patience, --max-epochs, --max-steps or --max-minutes");
  WASMFORMER_CHECK(!o.request.budget || ranks().size() == 1, ErrorCode::train,
                   "--budget is for one process; with several ranks give the settings and --max-minutes");
  // A run that was killed while its teacher was translating has no checkpoint yet.
  if (o.distils() && !fs::exists(checkpoint_of(o))) o.request.resume = false;
  o.output.resume = o.request.resume;
  RunSetup setup(request_of(o), input_of(o));
  if (o.distils()) let_teacher_translate(setup, o.teacher, o.output.folder, o.output.threads);
  const auto begin = [&](ThreadPool& pool) {
    std::vector<std::string> tokenizers;
    for (const TokenizerJob& job : setup.untrained()) tokenizers.push_back(train_tokenizer(job.sentences, job.options));
    return setup.begin(tokenizers, pool);
  };
  const auto options = [&](TrainingSession& run) { return used_options(o, given, run); };
  return train_until_done(o.run, o.output, {begin, options});
}

void add_text_options(CLI::App& command, TrainOptions& o) {
  const auto add = [&command](const char* flag, auto& files, const char* help) {
    command.add_option(flag, files, help)->type_name("FILE");
  };
  add("--source", o.train.source, "source sentences, one per line");
  add("--target", o.train.target, "their translations, line by line");
  add("--valid-source", o.valid.source, "source sentences to validate on");
  add("--valid-target", o.valid.target, "their translations");
  add("--data", o.data,
      "TSV files of pairs instead of --source and --target; FILE:WEIGHT takes its pairs WEIGHT times");
  add("--valid-data", o.valid.tsv, "a TSV file of pairs to validate on");
  command.add_option("--augment", o.augment, "KEY=SHARE: add up to SHARE changed copies per pair")
      ->type_name(key_value_type);
  command.add_option("--columns", o.train.columns, "SOURCE,TARGET columns of the TSV files, from 0")
      ->capture_default_str();
  add("--labels", o.labelled.labels, "train a classifier: lines of LABEL TAB TEXT");
  add("--tags", o.labelled.tags,
      "train a tagger: lines of TOKEN TAB TAG, an empty line after each sentence; with --labels both are learned, "
      "and text N is the same in both");
  add("--valid-labels", o.valid_labelled.labels, "labelled texts to validate on");
  add("--valid-tags", o.valid_labelled.tags, "tagged texts to validate on");
  add("--text", o.text,
      "train an encoder to fill masks in this plain text; --from MODEL then begins a classifier or tagger with it");
  add("--monolingual", o.monolingual, "with --teacher: further sources that it translates, one per line");
  command.add_option("--mono", o.mono)->group("");  // which --help does not show
}

void add_model_options(CLI::App& command, const std::shared_ptr<TrainOptions>& o) {
  command
      .add_option("--teacher", o->teacher,
                  "a larger model: learn its translations of the sources, and of --monolingual, instead of the targets")
      ->type_name("FILE");
  command.get_option("--teacher-beam")->needs("--teacher");
  command
      .add_option("--tokenizer", o->tokenizer,
                  "SentencePiece .model file; by default a task's characters, or that of --from or --teacher")
      ->type_name("FILE");
  command.add_option("--target-tokenizer", o->target_tokenizer, "a separate tokenizer for the target side")
      ->needs("--tokenizer")
      ->type_name("FILE");
  command.add_option("--from", o->from, "a model to fine-tune, at a constant rate of 1e-4 unless --set changes it")
      ->excludes(command.get_option("--preset"))
      ->type_name("FILE");
  // The schema's sentences are for all front ends.
  command.get_option("--preset")
      ->description("sizes and settings to begin with, from the list below; by default toy for a task, else small");
  command.get_option("--resume")->description("continue the run in the folder --output from its last.safetensors");
  // At once, so that of several values for a key, under either flag, the last one holds.
  const auto change = [o](const std::vector<std::string>& words) {
    o->set.insert(o->set.end(), words.begin(), words.end());
  };
  command.add_option_function("--set", std::function(change), "change one setting of the preset or of --from")
      ->type_name(key_value_type)
      ->trigger_on_parse();
  for (const auto& [flag, key] : {std::pair<std::string, std::string>{"--batch-tokens", "batch_tokens="},
                                  std::pair<std::string, std::string>{"--accumulate", "accumulate="}})
    command
        .add_option_function<std::string>(
            flag, [o, key = key](const std::string& value) { o->set.push_back(key + value); },
            "the same as --set " + key + "N")
        ->type_name("N")
        ->trigger_on_parse();
}

void arrange_help(CLI::App& command) {
  group_options(
      command,
      {{"Sentence pairs",
        {"--source", "--target", "--data", "--columns", "--augment", "--valid-source", "--valid-target", "--valid-data",
         "--validation"}},
       {"Other texts", {"--labels", "--tags", "--valid-labels", "--valid-tags", "--text", "--objective"}},
       {"A made-up task", {"--task", "--pairs", "--longest"}},
       {"Model",
        {"--preset", "--from", "--tokenizer", "--target-tokenizer", "--set", "--batch-tokens", "--accumulate"}},
       {"A teacher", {"--teacher", "--teacher-beam", "--monolingual"}},
       {"Length of the run", {"--budget", "--max-steps", "--max-epochs", "--max-minutes", "--patience", "--resume"}},
       {"Output", {"--output", "--keep", "--report-every", "--validate-every", "--languages", "--metadata"}},
       {"Run", {"--config", "--seed", "--threads"}}});
  add_examples(command,
               {"wasmformer train --data train.tsv --validation 200 --columns 1,0 \\",
                "    --tokenizer tok.model --output run --max-epochs 10 --threads 2",
                "wasmformer train --task reverse --output reverse --max-steps 500"},
               notes());
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train a translator, a classifier, a tagger or an encoder");
  auto o = std::make_shared<TrainOptions>();
  add_text_options(*command, *o);
  add_options(*command, fields(o->request) + fields(o->run) + fields(o->output), "train");
  command->get_option("--pairs")->needs("--task");
  command->get_option("--longest")->needs("--task");
  add_model_options(*command, o);
  command
      ->add_option("--output", o->output.folder,
                   "folder for best.safetensors, last.safetensors, log.jsonl and options.json")
      ->required()
      ->type_name("FOLDER");
  command->add_option("--metadata", o->metadata, metadata_help)->type_name(key_value_type);
  command
      ->add_option("--config", o->config,
                   "JSON file whose object \"train\" has these options; those of the command line win")
      ->type_name("FILE");
  arrange_help(*command);
  command->callback([o, command] {
    o->valid.columns = o->train.columns;
    if (!o->data.empty()) o->train.tsv = o->data[0];
    if (const int signal = train(*o, given_options(*command))) throw CLI::RuntimeError(128 + signal);
  });
}

}  // namespace wasmformer
