#include "cli/training_loop.h"

#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/files.h"
#include "cli/progress.h"
#include "cli/ranks.h"

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

namespace wasmformer {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t signal_number = 0;

// From now on Ctrl-C does not end the program at once.
void watch_for_signals() {
#ifdef __EMSCRIPTEN__
  // clang-format off
  MAIN_THREAD_EM_ASM({
    process.on('SIGINT', () => Atomics.store(HEAP32, $0 >> 2, $1));
    process.on('SIGTERM', () => Atomics.store(HEAP32, $0 >> 2, $2));
  }, &signal_number, SIGINT, SIGTERM);
  // clang-format on
#else
  // SIGUSR1: mpirun passes it on and waits, while SIGINT and SIGTERM make it kill the ranks a second later.
  for (int number : {SIGINT, SIGTERM, SIGUSR1}) std::signal(number, [](int caught) { signal_number = caught; });
#endif
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string size_of(const Corpus& corpus) {
  return std::to_string(corpus.pairs.size()) + " pairs" +
         (corpus.skipped ? ", " + std::to_string(corpus.skipped) + " left out (an empty side, or too long)" : "");
}

// 3 of "epoch-3.safetensors"; 0 of other names.
Index epoch_of(const std::string& name) {
  constexpr std::string_view prefix = "epoch-", suffix = ".safetensors";
  Index epoch = 0;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return 0;
  const char* end = name.data() + name.size() - suffix.size();
  return std::from_chars(name.data() + prefix.size(), end, epoch).ptr == end ? epoch : 0;
}

// log.jsonl, rewritten in full at each report so that it never ends in half a line.
class TrainingLog {
 public:
  // `resume`: continues after the reports up to `step`; those of later steps, which run again, are dropped.
  // Throws Error naming the file and the line that is not a report.
  TrainingLog(std::string path, bool resume, Index step) : path_(std::move(path)) {
    if (!resume || !fs::exists(path_)) return;
    std::size_t number = 0;
    for (const std::string& line : read_lines(path_)) {
      ++number;
      const auto entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      WASMFORMER_CHECK(entry.is_object() && entry.contains("step") && entry["step"].is_number_integer() &&
                           entry.contains("seconds") && entry["seconds"].is_number(),
                       ErrorCode::train,
                       "line " << number << " of " << path_
                               << " is damaged: it must be a JSON object with step and seconds; "
                               << "correct or remove it");
      if (entry["step"] > step) break;
      text_ += line + "\n";
      seconds_ = entry["seconds"];
    }
  }

  double seconds() const { return seconds_; }  // of the run before it was resumed
  void add(const nlohmann::ordered_json& entry) {
    text_ += entry.dump() + "\n";
    write();
  }
  void write() const { write_file_atomically(path_, text_); }

 private:
  std::string path_, text_;
  double seconds_ = 0;
};

class TrainingLoop {
 public:
  TrainingLoop(const TrainingLoopOptions& options,
               const std::function<std::unique_ptr<TrainingRun>(ThreadPool&)>& begin)
      : o_(options),
        pool_(options.threads),
        run_(begin(pool_)),
        log_((fs::path(options.output) / "log.jsonl").string(), options.resume, run_->progress().step) {
    if (ranks_.size() > 1) run_->trainer().join(ranks_);
  }

  void operator()() {
    if (ranks_.is_first()) {
      prepare_folder();
      introduce();
    }
    saved_step_ = run_->progress().step;
    bool is_interrupted = false;
    for (bool ends = done(); !ends && !is_interrupted; is_interrupted = ranks_.any(signal_number)) {
      const StepReport report = step();
      ends = done();  // asked once: between two calls the time could run out
      if (ranks_.is_first()) keep(report, ends);
    }
    if (is_interrupted && ranks_.is_first()) {
      if (saved_step_ != run_->progress().step) save();
      line_.print("interrupted at step " + std::to_string(run_->progress().step) + "; --resume continues from there");
    }
    ranks_.any(false);  // waits for all ranks: mpirun treats one that ends early as a failure
  }

 private:
  // Reports, validates and saves, whichever is due.
  void keep(const StepReport& report, bool ends) {
    constexpr double save_every = 300;  // seconds
    if (run_->epoch_has_ended() || ends) {
      validate(report);
    } else {
      if (run_->progress().step % o_.report_every == 0) log(report, {});
      if (seconds_since(saved_) <= save_every) return;
    }
    save();
  }

  // Writes the log at once, so that a folder that cannot be written to is an error before any step.
  void prepare_folder() {
    make_folder(o_.output);
    log_.write();
    clean_folder();
  }

  void introduce() {
    line_.print("train: " + size_of(run_->corpus()));
    line_.print("valid: " + size_of(run_->valid_corpus()));
    line_.print(std::to_string(run_->model().transformer->parameter_count()) + " parameters, " +
                std::to_string(run_->trainer().batches_per_epoch()) + " batches per epoch, " +
                (ranks_.size() > 1 ? std::to_string(ranks_.size()) + " ranks of " : "") + std::to_string(pool_.size()) +
                (pool_.size() == 1 ? " thread" : " threads"));
  }

  StepReport step() {
    const auto begin = Clock::now();
    const StepReport report = run_->step();
    step_seconds_ += seconds_since(begin);
    units_ += report.target_tokens;
    const double f = fraction();
    if (ranks_.is_first())
      line_.update(f, standing(report.loss) + (f > 0 ? "  " + duration(seconds() * (1 - f) / f) + " left" : ""));
    return report;
  }

  // The share of the way to the nearest goal; -1 without a goal.
  double fraction() const {
    const Progress& p = run_->progress();
    double f = -1;
    if (o_.max_steps) f = std::max(f, static_cast<double>(p.step) / static_cast<double>(*o_.max_steps));
    if (o_.max_epochs) f = std::max(f, run_->epochs() / static_cast<double>(*o_.max_epochs));
    if (o_.max_minutes) f = std::max(f, seconds() / (*o_.max_minutes * 60));
    return std::min(f, 1.0);
  }
  bool done() { return ranks_.any(fraction() == 1); }

  // Seconds of the whole run, including those before it was resumed.
  double seconds() const { return log_.seconds() + seconds_since(start_); }

  // Of target tokens or, if a model classifies or tags, texts.
  double units_per_second() const { return static_cast<double>(units_) / step_seconds_; }
  bool counts_texts() const { return !run_->model().transformer->config().predicts_tokens(); }

  std::string standing(double loss) const {
    return "step " + std::to_string(run_->progress().step) + "  epoch " + fixed(run_->epochs(), 2) + "  loss " +
           fixed(loss, 3) + "  " + fixed(units_per_second(), 0) + (counts_texts() ? " texts/s" : " tokens/s");
  }

  void log(const StepReport& report, const nlohmann::ordered_json& figures) {
    nlohmann::ordered_json entry{{"step", run_->progress().step},
                                 {"epoch", run_->epochs()},
                                 {"loss", run_->trainer().take_mean_loss()},
                                 {"learning_rate", report.learning_rate},
                                 {"gradient_norm", report.gradient_norm},
                                 {"target_tokens_per_second", units_per_second()},
                                 {"seconds", seconds()}};
    std::string text = standing(entry["loss"]);
    for (const auto& [key, value] : figures.items()) {
      entry[key] = value;
      text += "  " + key + " " + fixed(value, key == "valid_loss" ? 3 : 1);
    }
    log_.add(entry);
    line_.print(text);
  }

  void validate(const StepReport& report) {
    line_.update(fraction(), "validating");
    const Validation found = run_->validate();
    nlohmann::ordered_json figures{{"valid_loss", found.loss}};
    for (const auto& [key, value] : found.figures) figures[key] = value;
    if (run_->model().metadata.contains("task")) figures["exact_match"] = found.greedy.exact_match;
    log(report, figures);
    if (found.is_best) write("best.safetensors", run_->model_file());
  }

  // The epoch's own file first: a run killed between the two repeats the epoch's last steps.
  void save() {
    if (o_.keep > 0 && run_->epoch_has_ended())
      write("epoch-" + std::to_string(run_->progress().epoch) + ".safetensors", run_->model_file());
    write("last.safetensors", run_->checkpoint());
    clean_folder();
    saved_ = Clock::now(), saved_step_ = run_->progress().step;
  }

  // Removes epochs beyond --keep, and unfinished files of a program that was killed.
  void clean_folder() {
    const Index last_to_go = o_.keep > 0 ? run_->progress().epoch - o_.keep : 0;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(o_.output)) {
      const std::string name = entry.path().filename().string();
      const Index epoch = epoch_of(name);
      const bool is_own = name.starts_with("best.") || name.starts_with("last.") || name.starts_with("log.jsonl") ||
                          name.starts_with("epoch-") || name.starts_with("teacher-");
      if ((epoch > 0 && epoch <= last_to_go) || (is_own && name.find(".unfinished") != std::string::npos))
        old.push_back(entry.path());
    }
    for (const fs::path& path : old) fs::remove(path);
  }

  void write(const std::string& name, const std::string& bytes) {
    write_file_atomically((fs::path(o_.output) / name).string(), bytes);
  }

  const TrainingLoopOptions& o_;
  Ranks& ranks_ = ranks();
  ProgressLine line_;
  ThreadPool pool_;
  std::unique_ptr<TrainingRun> run_;
  TrainingLog log_;
  Clock::time_point start_ = Clock::now(), saved_ = start_;
  Index saved_step_ = 0;
  Index units_ = 0;          // since start_
  double step_seconds_ = 0;  // spent on these tokens, without validation and saving
};

}  // namespace

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  WASMFORMER_CHECK(!error, ErrorCode::train, "cannot make the folder " << path << ": " << error.message());
}

int train_until_done(const TrainingLoopOptions& options,
                     const std::function<std::unique_ptr<TrainingRun>(ThreadPool&)>& begin) {
  TrainingLoop loop(options, begin);
  watch_for_signals();
  loop();
  return signal_number;
}

}  // namespace wasmformer
