#include "cli/training_loop.h"

#include <charconv>
#include <chrono>
#include <csignal>
#include <ctime>
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
namespace events = training_events;

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

// Settings that a budget has chosen, and the steps that are expected in its time.
std::string chosen(const BudgetPlan& plan) {
  const auto& [config, training] = plan.settings;
  return "budget: d_model=" + std::to_string(config.d_model) + " ffn_dim=" + std::to_string(config.ffn_dim) +
         " encoder_layers=" + std::to_string(config.encoder_layers) +
         " decoder_layers=" + std::to_string(config.decoder_layers) + " dropout=" + fixed(config.dropout, 2) +
         " optimizer=" + word(training.optimizer) + " batch_tokens=" + std::to_string(training.batch_tokens) +
         "; about " + std::to_string(plan.steps) + " steps of " + fixed(1000 * plan.seconds_per_step, 0) + " ms, " +
         fixed(plan.epochs, 1) + " passes over the texts";
}

// Returns whether even the fewest steps of a schedule take more than the time.
bool takes_longer(const BudgetPlan& plan) {
  return static_cast<double>(plan.steps) * plan.seconds_per_step > plan.seconds;
}

std::string size_of(const Examples& examples) {
  return std::to_string(examples.size()) + " pairs" +
         (examples.skipped ? ", " + std::to_string(examples.skipped) + " left out (an empty side, or too long)" : "");
}

// 3 of "epoch-3.safetensors"; 0 of other names.
Index epoch_of(const std::string& name) {
  constexpr std::string_view prefix = "epoch-", suffix = ".safetensors";
  Index epoch = 0;
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return 0;
  const char* end = name.data() + name.size() - suffix.size();
  return std::from_chars(name.data() + prefix.size(), end, epoch).ptr == end ? epoch : 0;
}

// The time of the day, in UTC: "2026-11-29T20:47:27.123Z".
std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof text - size, ".%03dZ", static_cast<int>(since_epoch.count() % 1000));
  return text;
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
  bool is_empty() const { return text_.empty(); }
  void add(const nlohmann::ordered_json& entry) {
    text_ += entry.dump() + "\n";
    write();
  }
  void write() const { write_file_atomically(path_, text_); }

 private:
  std::string path_, text_;
  double seconds_ = 0;
};

// Shows a run and keeps its files.
class TrainingRenderer {
 public:
  TrainingRenderer(RunOptions options, const TrainingOutput& output, const RunMaker& maker)
      : output_(output),
        pool_(output.threads),
        run_(maker.begin(pool_)),
        used_options_(maker.options(*run_)),
        log_((fs::path(output.folder) / "log.jsonl").string(), output.resume, run_->progress().step),
        saved_step_(run_->progress().step) {
    options.earlier_seconds = log_.seconds();
    if (run_->budget()) options.budget = (run_->budget()->seconds - options.earlier_seconds) / seconds_per_minute;
    loop_ = std::make_unique<TrainingLoop>(*run_, std::move(options), ranks_, [] { return signal_number != 0; });
  }

  // Returns whether a signal ended the run.
  bool operator()() {
    if (ranks_.is_first()) {
      prepare_folder();
      introduce();
    }
    TrainingEvent event = loop_->next();
    const bool has_nothing_to_do = std::holds_alternative<events::Done>(event);
    if (has_nothing_to_do && ranks_.is_first()) say_that_goal_is_reached();
    for (; !std::holds_alternative<events::Done>(event); event = loop_->next())
      if (ranks_.is_first()) std::visit([this](const auto& e) { show(e); }, event);
    const auto [is_interrupted, has_lost_patience] = std::get<events::Done>(event);
    if (has_lost_patience && ranks_.is_first())
      line_.print("ended, as validation was not better for " + fixed(run_->epochs_since_best(), 0) + " epochs");
    if (is_interrupted && ranks_.is_first()) {
      if (saved_step_ != run_->progress().step) save();
      line_.print("interrupted at step " + std::to_string(run_->progress().step) + "; --resume continues from there");
    }
    ranks_.any(false);  // waits for all ranks: mpirun treats one that ends early as a failure
    return is_interrupted;
  }

 private:
  void show(const events::Step& e) {
    step_seconds_ += e.seconds;
    units_ += e.report.units;
    const double done = loop_->progress();
    line_.update(done, standing(e.report.loss) + time_left(loop_->seconds(), done));
  }
  void show(const events::Validating&) { line_.update(loop_->progress(), "validating"); }
  void show(const events::Report& report) {
    nlohmann::ordered_json figures = nlohmann::ordered_json::object();
    if (const auto& validation = report.validation) {
      figures["valid_loss"] = validation->loss;
      for (const auto& [key, value] : validation->scores.figures) figures[key] = value;
      if (run_->model().metadata.contains("task"))
        figures["exact_match"] = validation->scores.further.at("exact_match");
    }
    log(report, figures);
    if (report.validation && report.validation->is_best) write("best.safetensors", run_->model_file());
  }
  void show(const events::SaveDue&) { save(); }
  void show(const events::Done&) {}

  // Writes the log at once, so that a folder that cannot be written to is an error before any step.
  void prepare_folder() {
    make_folder(output_.folder);
    if (log_.is_empty())
      log_.add(first_record());
    else
      log_.write();
    write("options.json", nlohmann::ordered_json{{"train", used_options_}}.dump(2) + "\n");
    clean_folder();
  }

  // Describes the run before its reports, and has a step and seconds as they do.
  nlohmann::ordered_json first_record() {
    return {{"type", "run"},
            {"time", time_now()},
            {"step", run_->progress().step},
            {"seconds", log_.seconds()},
            {"version", WASMFORMER_VERSION},
            {"parameters", run_->model().transformer->parameter_count()},
            {"train", run_->examples().size()},
            {"left_out", run_->examples().skipped},
            {"valid", run_->valid_examples().size()},
            {"batches_per_epoch", run_->trainer().batches_per_epoch()},
            {"seed", run_->trainer().config().seed},
            {"threads", pool_.size()},
            {"ranks", ranks_.size()},
            {"options", used_options_}};
  }

  // Warns that a resumed run has nothing left to do.
  void say_that_goal_is_reached() {
    const RunOptions& goals = loop_->options();
    std::vector<std::string> flags;
    if (goals.steps) flags.push_back("--max-steps");
    if (goals.epochs) flags.push_back("--max-epochs");
    if (goals.minutes) flags.push_back("--max-minutes");
    const std::string way = run_->budget()
                                ? "train a new run --from " + (fs::path(output_.folder) / "best.safetensors").string()
                                : "give a higher " + join(flags, " and ");
    line_.warn("nothing to do: the run has reached its goal, at step " + std::to_string(run_->progress().step) +
               " after " + fixed(run_->epochs(), 2) + " epochs; to go on, " + way);
  }

  void introduce() {
    line_.print("train: " + size_of(run_->examples()));
    line_.print("valid: " + size_of(run_->valid_examples()));
    line_.print(std::to_string(run_->model().transformer->parameter_count()) + " parameters, " +
                std::to_string(run_->trainer().batches_per_epoch()) + " batches per epoch, " +
                (ranks_.size() > 1 ? std::to_string(ranks_.size()) + " ranks of " : "") + std::to_string(pool_.size()) +
                (pool_.size() == 1 ? " thread" : " threads"));
    const std::optional<BudgetPlan>& plan = run_->budget();
    if (!plan || plan->steps == 0) return;
    line_.print(chosen(*plan));
    if (takes_longer(*plan))
      line_.warn("the run takes longer than --budget: its settings need at least " + std::to_string(plan->steps) +
                 " steps of " + fixed(plan->seconds_per_step, 1) + " s; give more minutes or a smaller model");
  }

  double units_per_second() const { return static_cast<double>(units_) / step_seconds_; }

  std::string standing(double loss) const {
    return "step " + std::to_string(run_->progress().step) + "  epoch " + fixed(run_->epochs(), 2) + "  loss " +
           fixed(loss, 3) + "  " + fixed(units_per_second(), 0) + " " + run_->task().unit() + "/s";
  }

  void log(const events::Report& report, const nlohmann::ordered_json& figures) {
    nlohmann::ordered_json entry{{"time", time_now()},
                                 {"step", report.step},
                                 {"epoch", report.epoch},
                                 {"loss", report.loss},
                                 {"learning_rate", report.learning_rate},
                                 {"gradient_norm", report.gradient_norm},
                                 {"target_tokens_per_second", units_per_second()},
                                 {"seconds", loop_->seconds()}};
    std::string text = standing(report.loss);
    for (const auto& [key, value] : figures.items()) {
      entry[key] = value;
      text += "  " + key + " " + fixed(value, key == "valid_loss" ? 3 : 1);
    }
    log_.add(entry);
    line_.print(text);
  }

  // The epoch's own file first: a run killed between the two repeats the epoch's last steps.
  void save() {
    if (output_.keep > 0 && run_->epoch_has_ended())
      write("epoch-" + std::to_string(run_->progress().epoch) + ".safetensors", run_->model_file());
    write("last.safetensors", run_->checkpoint());
    clean_folder();
    saved_step_ = run_->progress().step;
  }

  // Removes epochs beyond --keep, and unfinished files of a program that was killed.
  void clean_folder() {
    const Index last_to_go = output_.keep > 0 ? run_->progress().epoch - output_.keep : 0;
    std::vector<fs::path> old;
    for (const auto& entry : fs::directory_iterator(output_.folder)) {
      const std::string name = entry.path().filename().string();
      const Index epoch = epoch_of(name);
      const bool is_own = name.starts_with("best.") || name.starts_with("last.") || name.starts_with("log.jsonl") ||
                          name.starts_with("options.json") || name.starts_with("epoch-") ||
                          name.starts_with("teacher-");
      if ((epoch > 0 && epoch <= last_to_go) || (is_own && name.find(".unfinished") != std::string::npos))
        old.push_back(entry.path());
    }
    for (const fs::path& path : old) fs::remove(path);
  }

  void write(const std::string& name, const std::string& bytes) {
    write_file_atomically((fs::path(output_.folder) / name).string(), bytes);
  }

  const TrainingOutput& output_;
  Communicator& ranks_ = ranks();
  ProgressLine line_;
  ThreadPool pool_;
  std::unique_ptr<TrainingSession> run_;
  nlohmann::ordered_json used_options_;
  TrainingLog log_;
  std::unique_ptr<TrainingLoop> loop_;
  Index saved_step_ = 0;
  Index units_ = 0;          // since the program began
  double step_seconds_ = 0;  // spent on these, without validation and saving
};

}  // namespace

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  WASMFORMER_CHECK(!error, ErrorCode::train, "cannot make the folder " << path << ": " << error.message());
}

RunOptions program_run_options() {
  RunOptions options;
  options.report_every = 100;
  options.goals_count_from = RunOptions::Origin::beginning;
  options.least_steps_between_validations = 0;
  options.save_every = 300;
  return options;
}

int train_until_done(const RunOptions& options, const TrainingOutput& output, const RunMaker& maker) {
  TrainingRenderer renderer(options, output, maker);
  watch_for_signals();
  return renderer() ? signal_number : 0;
}

}  // namespace wasmformer
