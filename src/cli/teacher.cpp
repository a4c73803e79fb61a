#include "cli/teacher.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <utility>

#include "bundle/crc32.h"
#include "cli/files.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "tasks/translate/evaluate.h"

namespace wasmformer {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t part_size = 1024;  // sources that a rank translates at a time
constexpr Index batch_tokens = 2048;

// Makes a text fit into one column of a TSV file.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
  return text;
}

class Distillation {
 public:
  Distillation(const TeacherOptions& options, const ModelFile& teacher, const ParallelText& text,
               const TrainingOutput& run)
      : teacher_(teacher), text_(text), pool_(run.threads), bleu_{.tokenizer = evaluation_tokenizer(teacher)} {
    search_.beam_size = search_.n_best = options.beam;
    make_folder(run.folder);
    path_ = (fs::path(run.folder) / ("teacher-" + std::to_string(identity(options.model)) + ".tsv")).string();
  }

  // One line per source: the source, a tab, its translation.
  std::string operator()() {
    const std::size_t all = text_.sources.size(), ranks = static_cast<std::size_t>(ranks_.size());
    double kept = ranks_.is_first() ? static_cast<double>(take_kept()) : 0;
    ranks_.sum({&kept, 1});
    first_ = done_ = static_cast<std::size_t>(kept);
    report();
    while (done_ < all) {
      const std::string own = translated(done_ + part_size * static_cast<std::size_t>(ranks_.rank()));
      done_ = std::min(all, done_ + part_size * ranks);
      if (ranks_.is_first())
        gather(own);
      else
        ranks_.send(0, own);
    }
    for (int rank = 1; rank < ranks_.size() && ranks_.is_first(); ++rank) ranks_.send(rank, lines_);
    return ranks_.is_first() ? std::move(lines_) : ranks_.receive(0);
  }

 private:
  // A checksum of teacher, beam size and text.
  unsigned long identity(const std::string& model) const {
    std::uint32_t sum = crc32(read_file(model));
    sum = crc32(std::to_string(search_.beam_size), sum);
    for (const auto* side : {&text_.sources, &text_.targets}) {
      for (const std::string& line : *side) sum = crc32(line + "\n", sum);
    }
    return sum;
  }

  // Reads what an earlier call kept; returns the number of lines.
  std::size_t take_kept() {
    if (!fs::exists(path_)) return 0;
    std::size_t count = 0;
    for (const std::string& line : read_lines(path_)) {
      if (count == text_.sources.size() || !line.starts_with(one_line(text_.sources[count]) + "\t")) break;
      lines_ += line + "\n";
      ++count;
    }
    return count;
  }

  std::string translated(std::size_t begin) {
    const std::size_t end = std::min(begin + part_size, text_.sources.size());
    if (begin >= end) return "";
    const auto at = [](auto& list, std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::vector<std::string> part(at(text_.sources, begin), at(text_.sources, end));
    BatchedTranslation translation(teacher_, pool_, part, search_, batch_tokens);
    finish(translation, [&](std::size_t count) { show(done_ + count); });
    std::string lines;
    for (const Translation& t : translation.take()) {
      lines += one_line(text_.sources[begin]) + "\t" + one_line(nearest(t, text_.targets[begin], bleu_)) + "\n";
      ++begin;
    }
    return lines;
  }

  void gather(const std::string& own) {
    constexpr std::chrono::seconds save_every{60};
    lines_ += own;
    for (int rank = 1; rank < ranks_.size(); ++rank) lines_ += ranks_.receive(rank);
    if (done_ < text_.sources.size() && Clock::now() - saved_ < save_every) return;
    write_file_atomically(path_, lines_);
    saved_ = Clock::now();
    report();
  }

  std::string standing(std::size_t count) const {
    return "teacher: " + std::to_string(count) + " of " + std::to_string(text_.sources.size()) + " sources";
  }
  void report() {
    if (ranks_.is_first()) progress_.print(standing(done_) + " in " + path_);
  }
  void show(std::size_t count) {
    if (!ranks_.is_first()) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const double rest =
        seconds * static_cast<double>(text_.sources.size() - count) / static_cast<double>(count - first_);
    progress_.update(static_cast<double>(count) / static_cast<double>(text_.sources.size()),
                     standing(count) + "  " + duration(rest) + " left");
  }

  const ModelFile& teacher_;
  const ParallelText& text_;
  ThreadPool pool_;
  BleuOptions bleu_;
  TranslateOptions search_;
  Ranks& ranks_ = ranks();
  ProgressLine progress_;
  std::string path_, lines_;
  std::size_t first_ = 0, done_ = 0;  // sources: kept before, translated by all ranks
  Clock::time_point start_ = Clock::now(), saved_ = start_;
};

}  // namespace

ParallelText distilled(const TeacherOptions& options, const ModelFile& teacher, ParallelText text,
                       const TrainingOutput& run) {
  // Each distinct pair is translated once, however often a file's weight repeats it.
  ParallelText once;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  std::vector<std::size_t> place(text.sources.size());
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto [found, is_new] = places.try_emplace({text.sources[i], text.targets[i]}, once.sources.size());
    place[i] = found->second;
    if (is_new) once.sources.push_back(text.sources[i]), once.targets.push_back(text.targets[i]);
  }
  const std::string lines = Distillation(options, teacher, once, run)();
  std::size_t begin = 0;
  for (std::string& target : once.targets) {
    const std::size_t end = lines.find('\n', begin), tab = lines.rfind('\t', end);
    target = lines.substr(tab + 1, end - tab - 1);
    begin = end + 1;
  }
  for (std::size_t i = 0; i < place.size(); ++i) text.targets[i] = once.targets[place[i]];
  return text;
}

}  // namespace wasmformer
