#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/parallel_text.h"
#include "cli/progress.h"
#include "cli/training_log.h"
#include "data/tasks.h"
#include "train/run.h"

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

namespace wasmformer {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t interrupted = 0;

// From now on Ctrl-C does not end the program at once.
void watch_for_interruption() {
#ifdef __EMSCRIPTEN__
  // clang-format off
  MAIN_THREAD_EM_ASM({
    const interrupt = () => Atomics.store(HEAP32, $0 >> 2, 1);
    process.on('SIGINT', interrupt);
    process.on('SIGTERM', interrupt);
  }, &interrupted);
  // clang-format on
#else
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
#endif
}

struct TrainOptions {
  ParallelTextOptions train, valid;
  std::string task, tokenizer, target_tokenizer, from, preset, output, languages;
  std::vector<std::string> set, metadata;
  Index pairs = 0, max_epochs = 0, max_steps = 0, batch_tokens = 0, keep = 0, report_every = 100;
  double max_minutes = 0;
  int threads = 1;
  std::optional<std::uint64_t> seed;
  bool resume = false;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The first file of sentence pairs that the options name, or "".
std::string named_file(const TrainOptions& o) {
  for (const std::string& file :
       {o.train.source, o.train.target, o.train.tsv, o.valid.source, o.valid.target, o.valid.tsv})
    if (!file.empty()) return file;
  return "";
}

// Of the task or the files, or those that a checkpoint carries.
TrainingTexts read_texts(const TrainOptions& o, const TrainingStart& start) {
  const std::string file = named_file(o);
  WASMFORMER_CHECK(o.task.empty() || file.empty(),
                   "[train] --task makes its own pairs; leave " << file << " out");
  if (!o.task.empty()) return task_texts(o.task, o.pairs, start.training.seed);
  if (o.resume && file.empty())
    if (auto texts = stored_texts(start.model.metadata, start.training.seed)) return *std::move(texts);
  return {read_parallel_text(o.train), read_parallel_text(o.valid)};
}

// What the options ask for, on top of `base` where no preset is named.
Preset settings(const TrainOptions& o, const Preset& base) {
  Preset p = o.preset.empty() ? base : preset(o.preset);
  for (const std::string& option : o.set) {
    const auto [key, value] = key_value(option);
    set_option(p.config, p.training, key, value);
  }
  if (o.batch_tokens > 0) p.training.batch_tokens = o.batch_tokens;
  if (o.seed) p.training.seed = *o.seed;
  return p;
}

TokenizerPair tokenizers(const TrainOptions& o, std::uint64_t seed) {
  if (o.tokenizer.empty())
    return counted_tokenizers(task_texts(o.task, o.pairs, seed).train, "char", 0, /*joint=*/true);
  const auto source = load_tokenizer(o.tokenizer);
  return {source, o.target_tokenizer.empty() ? source : load_tokenizer(o.target_tokenizer)};
}

TrainingStart fine_tuned(const TrainOptions& o) {
  const Preset p = settings(o, {load_model(o.from).transformer->config(), fine_tuning_config()});
  return fine_tuning_start(read_file(o.from), p.training, to_json(p.config));
}

TrainingStart fresh(const TrainOptions& o) {
  WASMFORMER_CHECK(!o.tokenizer.empty() || !o.task.empty(), "[train] --tokenizer is required");
  const Preset p = settings(o, o.task.empty() ? preset("small") : task_preset(o.task));
  return fresh_start(p, tokenizers(o, p.training.seed), std::numeric_limits<double>::max());
}

TrainingStart begun(const TrainOptions& o, const std::string& last) {
  WASMFORMER_CHECK(!fs::exists(last), "[train] " << last
                                                 << " exists already; add --resume to go on with that run, "
                                                 << "or choose another --output");
  TrainingStart start = o.from.empty() ? fresh(o) : fine_tuned(o);
  if (!o.task.empty()) start.model.metadata["task"] = task_name(o.task, o.pairs);
  return start;
}

// Options may be repeated; those that would change the run are refused.
TrainingStart resumed(const TrainOptions& o, const std::string& last) {
  TrainingStart start = resumed_start(read_file(last));
  const Config& config = start.model.transformer->config();
  Preset p = settings(o, {config, start.training});
  take_vocabulary(p.config, *start.model.source_tokenizer, *start.model.target_tokenizer);
  WASMFORMER_CHECK(
      p.config == config && p.training == start.training,
      "[train] " << last << " was trained with other settings than these; repeat its own or leave them out");
  const auto found = start.model.metadata.find("task");
  const bool was_task = found != start.model.metadata.end();
  WASMFORMER_CHECK(o.task.empty() || (was_task && found->second == task_name(o.task, o.pairs)),
                   "[train] " << last << " was trained on "
                              << (was_task ? "the task " + found->second : "files, not a task")
                              << "; repeat its own --task and --pairs or leave them out");
  WASMFORMER_CHECK(!was_task || named_file(o).empty(), "[train] " << last << " was trained on the task "
                                                                  << found->second << ", not on "
                                                                  << named_file(o));
  for (const auto& [path, own] : {std::pair(o.tokenizer, start.model.source_tokenizer),
                                  std::pair(o.target_tokenizer, start.model.target_tokenizer)})
    WASMFORMER_CHECK(path.empty() || load_tokenizer(path)->model() == own->model(),
                     "[train] " << last << " was trained with another tokenizer than " << path);
  return start;
}

TrainingStart start_or_resume(const TrainOptions& o) {
  const std::string last = (fs::path(o.output) / "last.safetensors").string();
  TrainingStart start = o.resume ? resumed(o, last) : begun(o, last);
  if (!o.languages.empty()) start.model.metadata["languages"] = o.languages;
  set_metadata(start.model, o.metadata);
  return start;
}

void print_size(const Corpus& corpus, const char* what, ProgressLine& line) {
  line.print(std::string(what) + ": " + std::to_string(corpus.pairs.size()) + " pairs" +
             (corpus.skipped
                  ? ", " + std::to_string(corpus.skipped) + " left out (an empty side, or too long)"
                  : ""));
}

class Run {
 public:
  Run(const TrainOptions& options, TrainingStart start, TrainingTexts texts, ProgressLine& line)
      : o_(options),
        line_(line),
        pool_(options.threads),
        run_(std::move(start), std::move(texts), pool_),
        log_((fs::path(options.output) / "log.jsonl").string(), options.resume, run_.progress().step) {}

  void operator()() {
    print_size(run_.corpus(), "train", line_);
    print_size(run_.valid_corpus(), "valid", line_);
    line_.print(std::to_string(run_.model().transformer->parameter_count()) + " parameters, " +
                std::to_string(run_.trainer().batches_per_epoch()) + " batches an epoch, " +
                std::to_string(pool_.size()) + (pool_.size() == 1 ? " thread" : " threads"));
    auto saved = Clock::now();
    while (!done()) {
      const auto begin = Clock::now();
      const StepReport report = run_.step();
      step_seconds_ += seconds_since(begin);
      tokens_ += report.target_tokens;
      const Index step = run_.progress().step;
      show(report);
      const bool epoch_ended = run_.epoch_has_ended();
      if (epoch_ended || done()) {
        validate(report);
        save();
        saved = Clock::now();
      } else if (step % o_.report_every == 0) {
        log(report, {});
      }
      constexpr double save_every = 300;  // seconds
      if (interrupted || seconds_since(saved) > save_every) {
        save();
        saved = Clock::now();
      }
      if (interrupted) {
        line_.print("interrupted at step " + std::to_string(step) + "; --resume goes on from there");
        return;
      }
    }
  }

 private:
  bool done() const {
    const Progress& p = run_.progress();
    return (o_.max_steps > 0 && p.step >= o_.max_steps) || (o_.max_epochs > 0 && p.epoch >= o_.max_epochs) ||
           (o_.max_minutes > 0 && seconds() >= o_.max_minutes * 60);
  }

  // Of the whole run, earlier parts included.
  double seconds() const { return log_.seconds() + seconds_since(start_); }

  double fraction() const {
    const Progress& p = run_.progress();
    double f = -1;
    if (o_.max_steps > 0) f = std::max(f, static_cast<double>(p.step) / static_cast<double>(o_.max_steps));
    if (o_.max_epochs > 0) f = std::max(f, run_.epochs() / static_cast<double>(o_.max_epochs));
    if (o_.max_minutes > 0) f = std::max(f, seconds() / (o_.max_minutes * 60));
    return std::min(f, 1.0);
  }

  double tokens_per_second() const { return static_cast<double>(tokens_) / step_seconds_; }

  void show(const StepReport& report) {
    const double f = fraction();
    std::string text = "step " + std::to_string(run_.progress().step) + "  epoch " + fixed(run_.epochs(), 2) +
                       "  loss " + fixed(report.loss, 3) + "  " + fixed(tokens_per_second(), 0) + " tokens/s";
    if (f > 0) text += "  " + duration(seconds() * (1 - f) / f) + " left";
    line_.update(f, text);
  }

  void log(const StepReport& report, const nlohmann::ordered_json& extra) {
    nlohmann::ordered_json entry{{"step", run_.progress().step},
                                 {"epoch", run_.epochs()},
                                 {"loss", run_.trainer().take_mean_loss()},
                                 {"learning_rate", report.learning_rate},
                                 {"gradient_norm", report.gradient_norm},
                                 {"target_tokens_per_second", tokens_per_second()},
                                 {"seconds", seconds()}};
    std::string text = "step " + std::to_string(run_.progress().step) + "  epoch " + fixed(run_.epochs(), 2) +
                       "  loss " + fixed(entry["loss"], 3) + "  " + fixed(tokens_per_second(), 0) +
                       " tokens/s";
    for (const auto& [key, value] : extra.items()) {
      entry[key] = value;
      text += "  " + key + " " + fixed(value, key == "valid_loss" ? 3 : 1);
    }
    log_.add(entry);
    line_.print(text);
  }

  void validate(const StepReport& report) {
    line_.update(fraction(), "validating");
    const Validation found = run_.validate();
    nlohmann::ordered_json figures{{"valid_loss", found.loss}, {"bleu", found.greedy.bleu}};
    if (run_.model().metadata.contains("task")) figures["exact_match"] = found.greedy.exact_match;
    log(report, figures);
    if (found.is_best) write("best.safetensors", run_.model_file());
  }

  void save() {
    write("last.safetensors", run_.checkpoint());
    const Index epoch = run_.progress().epoch;
    if (o_.keep == 0 || !run_.epoch_has_ended()) return;
    write("epoch-" + std::to_string(epoch) + ".safetensors", run_.model_file());
    fs::remove(fs::path(o_.output) / ("epoch-" + std::to_string(epoch - o_.keep) + ".safetensors"));
  }

  void write(const std::string& name, const std::string& bytes) {
    write_file_atomically((fs::path(o_.output) / name).string(), bytes);
  }

  const TrainOptions& o_;
  ProgressLine& line_;
  ThreadPool pool_;
  TrainingRun run_;
  TrainingLog log_;
  Clock::time_point start_ = Clock::now();
  Index tokens_ = 0;         // since start_
  double step_seconds_ = 0;  // of them: validation and saving do not count
};

void train(TrainOptions o) {
  if (!o.task.empty() && o.max_epochs == 0 && o.max_steps == 0 && o.max_minutes == 0)
    o.max_steps = find_task(o.task).steps;
  WASMFORMER_CHECK(o.max_epochs > 0 || o.max_steps > 0 || o.max_minutes > 0,
                   "[train] say when to stop: --max-epochs, --max-steps or --max-minutes");
  ProgressLine line;
  TrainingStart start = start_or_resume(o);
  TrainingTexts texts = read_texts(o, start);
  Run run(o, std::move(start), std::move(texts), line);
  std::error_code error;
  fs::create_directories(o.output, error);
  WASMFORMER_CHECK(!error, "[train] cannot make the folder " << o.output << ": " << error.message());
  watch_for_interruption();
  run();
}

}  // namespace

void add_train_command(CLI::App& app) {
  auto* command = app.add_subcommand("train", "Train a model on sentence pairs");
  auto o = std::make_shared<TrainOptions>();
  command->add_option("--source", o->train.source, "source sentences, one a line");
  command->add_option("--target", o->train.target, "their translations, line by line");
  command->add_option("--valid-source", o->valid.source, "source sentences to validate on");
  command->add_option("--valid-target", o->valid.target, "their translations");
  command->add_option("--data", o->train.tsv, "a TSV file of pairs instead of --source and --target");
  command->add_option("--valid-data", o->valid.tsv, "a TSV file of pairs to validate on");
  command->add_option("--columns", o->train.columns, "SOURCE,TARGET columns of the TSV files, from 0")
      ->default_str("0,1");
  std::string names;
  for (const Task& task : tasks()) names += std::string(names.empty() ? "" : ", ") + task.name;
  auto* task = command->add_option("--task", o->task, "made-up pairs instead of files: " + names);
  command->add_option("--pairs", o->pairs, "how many of them to train on; 200 more are for validation")
      ->needs(task)
      ->check(CLI::PositiveNumber)
      ->default_str("as many as it takes");
  auto* tokenizer = command->add_option("--tokenizer", o->tokenizer,
                                        "SentencePiece .model file; a task's default is its characters");
  auto* target_tokenizer =
      command->add_option("--target-tokenizer", o->target_tokenizer, "another one for the target side");
  auto* preset = command->add_option(
      "--preset", o->preset,
      "toy (default of tasks), tiny, small (default), base, big, multi30k-tiny or kyubyong");
  command->add_option("--from", o->from, "a model to fine-tune, at a constant rate of 1e-4 unless --set says")
      ->excludes(tokenizer, target_tokenizer, preset);
  command->add_option("--set", o->set, "KEY=VALUE: change one setting of the preset or of --from");
  command->add_option("--output", o->output, "folder for best.safetensors, last.safetensors and log.jsonl")
      ->required();
  command->add_option("--max-epochs", o->max_epochs, "stop after N passes over the corpus")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-steps", o->max_steps, "stop after N steps; a task's default is what it takes")
      ->check(CLI::PositiveNumber);
  command->add_option("--max-minutes", o->max_minutes, "stop after N minutes")->check(CLI::PositiveNumber);
  command->add_option("--batch-tokens", o->batch_tokens, "tokens of a batch, of its longer side")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", o->threads, "threads")->check(CLI::Range(1, 256))->capture_default_str();
  command->add_option("--seed", o->seed, "seed of weights, order and dropout")->check(CLI::PositiveNumber);
  command->add_option("--report-every", o->report_every, "steps between reports")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--keep", o->keep, "keep the models of the last N epochs, to average")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--languages", o->languages, "SOURCE-TARGET, stored in the model: de-en");
  command->add_option("--metadata", o->metadata,
                      "KEY=VALUE to store in the model, such as its corpus and licence");
  command->add_flag("--resume", o->resume, "go on with the run in --output");
  command->callback([o] {
    o->valid.columns = o->train.columns;
    train(*o);
  });
}

}  // namespace wasmformer
