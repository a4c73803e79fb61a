#include "cli/teacher.h"

#include <chrono>
#include <filesystem>

#include "bundle/crc32.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/training_loop.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// A checksum of teacher, beam size and text.
std::uint32_t identity(const std::string& teacher_file, const Distillation& work) {
  std::uint32_t sum = crc32(read_file(teacher_file));
  sum = crc32(std::to_string(work.beam()), sum);
  for (const auto* side : {&work.pairs().sources, &work.pairs().targets}) {
    for (const std::string& line : *side) sum = crc32(line + "\n", sum);
  }
  return sum;
}

// The file of a teacher's translations: a line for each pair, of the source, a tab and the new target.
class TranslationsFile {
 public:
  explicit TranslationsFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // The targets that an earlier call has kept.
  std::vector<std::string> read(const std::vector<std::string>& sources) const {
    std::vector<std::string> targets;
    if (!fs::exists(path_)) return targets;
    for (const std::string& line : read_lines(path_)) {
      if (targets.size() == sources.size()) break;
      const std::string begin = on_one_line(sources[targets.size()]) + "\t";
      if (!line.starts_with(begin)) break;
      targets.push_back(line.substr(begin.size()));
    }
    return targets;
  }

  void write(const std::vector<std::string>& sources, const std::vector<std::string>& targets) const {
    std::string lines;
    for (std::size_t i = 0; i < targets.size(); ++i) lines += on_one_line(sources[i]) + "\t" + targets[i] + "\n";
    write_file_atomically(path_, lines);
  }

 private:
  std::string path_;
};

// Shows a teacher's work and keeps its file.
class TeacherRenderer {
 public:
  TeacherRenderer(Distillation& work, const std::string& teacher_file, const std::string& folder)
      : work_(work),
        file_((fs::path(folder) / ("teacher-" + std::to_string(identity(teacher_file, work)) + ".tsv")).string()) {}

  void operator()() {
    if (ranks_.is_first())
      work_.resume(file_.read(work_.pairs().sources));
    else
      work_.resume({});
    saved_ = work_.targets().size();
    first_ = work_.done();
    report();
    constexpr std::chrono::seconds between_updates{1};
    while (work_.step_for(between_updates)) {
      if (ranks_.is_first()) show();
    }
  }

 private:
  std::size_t size() const { return work_.pairs().sources.size(); }

  void show() {
    constexpr std::chrono::seconds save_every{60};
    const std::size_t translated = work_.targets().size();
    const bool is_done = translated == size();
    const bool is_due = is_done || Clock::now() - saved_at_ >= save_every;
    if (translated > saved_ && is_due) return save();
    update_line();
  }

  void save() {
    file_.write(work_.pairs().sources, work_.targets());
    saved_ = work_.targets().size();
    saved_at_ = Clock::now();
    report();
  }

  void update_line() {
    const std::size_t done = work_.done();
    if (done == first_) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double rest = seconds * static_cast<double>(size() - done) / static_cast<double>(done - first_);
    line_.update(static_cast<double>(done) / static_cast<double>(size()),
                 standing(done) + "  " + duration(rest) + " left");
  }

  std::string standing(std::size_t count) const {
    return "teacher: " + std::to_string(count) + " of " + std::to_string(size()) + " sources";
  }
  void report() {
    if (ranks_.is_first()) line_.print(standing(work_.done()) + " in " + file_.path());
  }

  Distillation& work_;
  TranslationsFile file_;
  Communicator& ranks_ = ranks();
  ProgressLine line_;
  std::size_t first_ = 0, saved_ = 0;  // targets: known before, and in the file
  Clock::time_point start_ = Clock::now(), saved_at_ = start_;
};

}  // namespace

void let_teacher_translate(RunSetup& setup, const std::string& teacher_file, const std::string& folder, int threads) {
  make_folder(folder);
  ThreadPool pool(threads);
  const std::unique_ptr<Distillation> work = setup.distillation(pool, ranks());
  TeacherRenderer(*work, teacher_file, folder)();
  setup.take(*work);
}

}  // namespace wasmformer
