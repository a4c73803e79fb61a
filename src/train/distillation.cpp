#include "train/distillation.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tasks/translate/evaluate.h"

namespace wasmformer {
namespace {

constexpr std::size_t part_size = 1024;  // sources that a rank translates before all put together what they have
constexpr Index teacher_batch_tokens = 2048;

// How lists cross to other ranks.
std::string lines_of(const std::vector<std::string>& list) {
  std::string lines;
  for (const std::string& line : list) lines += line + "\n";
  return lines;
}
void append_lines(std::vector<std::string>& list, const std::string& lines) {
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    list.push_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::string on_one_line(std::string text) {
  const auto is_separator = [](char c) { return c == '\t' || c == '\n' || c == '\r'; };
  std::replace_if(text.begin(), text.end(), is_separator, ' ');
  return text;
}

ParallelText with_sources(ParallelText pairs, const std::vector<std::string>& sources) {
  pairs.sources.insert(pairs.sources.end(), sources.begin(), sources.end());
  pairs.targets.resize(pairs.sources.size());
  return pairs;
}

Distillation::Distillation(std::shared_ptr<const ModelFile> teacher, ThreadPool& pool, Communicator& ranks,
                           const ParallelText& text, Index beam)
    : teacher_(std::move(teacher)), pool_(pool), ranks_(ranks), bleu_{.tokenizer = evaluation_tokenizer(*teacher_)} {
  search_.beam_size = beam;
  search_.n_best = beam;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < text.sources.size(); ++i) {
    const std::string& source = text.sources[i];
    const std::string& target = text.targets[i];
    const auto [pair, is_new] = known.try_emplace({source, target}, pairs_.sources.size());
    pair_of_.push_back(pair->second);
    if (!is_new) continue;
    pairs_.sources.push_back(source);
    pairs_.targets.push_back(target);
  }
}

void Distillation::resume(std::vector<std::string> targets) {
  targets_ = std::move(targets);
  double count = ranks_.is_first() ? static_cast<double>(targets_.size()) : 0;
  ranks_.sum({&count, 1});
  done_ = static_cast<std::size_t>(count);
}

bool Distillation::step_for(std::chrono::milliseconds time) {
  if (done_ == pairs_.sources.size()) {
    share_targets();
    return false;
  }
  if (!translation_) begin_part();
  const bool has_more = translation_->step_for(time);
  if (!has_more) end_part();
  return true;
}

std::size_t Distillation::done() const { return done_ + (translation_ ? translation_->done() : 0); }

// The parts of the ranks follow each other. Behind the last source a part is empty.
void Distillation::begin_part() {
  const std::size_t size = pairs_.sources.size();
  part_begin_ = std::min(size, done_ + part_size * static_cast<std::size_t>(ranks_.rank()));
  const auto begin = pairs_.sources.begin() + static_cast<std::ptrdiff_t>(part_begin_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(part_size, size - part_begin_));
  translation_.emplace(*teacher_, pool_, std::vector<std::string>(begin, begin + count), search_, teacher_batch_tokens);
}

// Puts together what the ranks have found, in the first one.
void Distillation::end_part() {
  std::vector<std::string> found;
  for (const Translation& translation : translation_->take()) {
    const std::string& reference = pairs_.targets[part_begin_ + found.size()];
    found.push_back(on_one_line(nearest(translation, reference, bleu_)));
  }
  translation_.reset();
  done_ = std::min(pairs_.sources.size(), done_ + part_size * static_cast<std::size_t>(ranks_.size()));
  if (!ranks_.is_first()) return ranks_.send(0, lines_of(found));
  targets_.insert(targets_.end(), found.begin(), found.end());
  for (int rank = 1; rank < ranks_.size(); ++rank) append_lines(targets_, ranks_.receive(rank));
}

void Distillation::share_targets() {
  if (ranks_.is_first()) {
    for (int rank = 1; rank < ranks_.size(); ++rank) ranks_.send(rank, lines_of(targets_));
    return;
  }
  targets_.clear();
  append_lines(targets_, ranks_.receive(0));
}

ParallelText Distillation::result() const {
  ParallelText text;
  for (const std::size_t pair : pair_of_) {
    text.sources.push_back(pairs_.sources[pair]);
    text.targets.push_back(targets_[pair]);
  }
  return text;
}

}  // namespace wasmformer
