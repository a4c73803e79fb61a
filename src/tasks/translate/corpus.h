// Sentence pairs as token ids.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/task.h"
#include "text/tokenizer.h"
#include "wasmformer/training.h"

namespace wasmformer {

// Appends the pairs of a further text to `all`.
void append(ParallelText& all, const ParallelText& more);

// Calls each(line, number), counted from 1, for the lines of `text`, which end with LF or CRLF; a byte order mark is
// skipped. Throws Error naming `name` and the line that is not UTF-8.
void for_each_line(std::string_view text, const std::string& name,
                   const std::function<void(std::string_view, std::size_t)>& each);

// Two columns, counted from 0, of lines separated by tabs; empty lines and a byte order mark are skipped.
// Throws Error, naming `name` and the line, when one has too few columns or is not UTF-8.
struct Columns {
  std::size_t source = 0, target = 1;
  const char* names = "source and target";  // their names in errors
  bool goes_to_end = false;                 // the source is the rest of the line, with its tabs
};
ParallelText parse_tsv(std::string_view text, const std::string& name, Columns columns = {});

struct SentencePair {
  std::vector<TokenId> source, target;  // both end with the end token
};

// Leaves out pairs with an empty side, or longer than the model's max_length.
struct Corpus : Examples {
  std::vector<SentencePair> pairs;

  Index size() const override { return static_cast<Index>(pairs.size()); }
  Sides tokens(Index i) const override;
  std::uint64_t fingerprint() const override;
  std::unique_ptr<TaskBatch> pack(std::span<const Index> which, Transformer& transformer,
                                  const TrainingConfig& training) const override;
  double guessing_loss(const Config& config, const TrainingConfig& training) const override;
  std::vector<Index> target_counts(const Config& config) const override;
  void check(const TrainingConfig& training) const override;
};

// BPE-dropout (Provilkov et al. 2020): splits a merged piece with probability `rate`, recursively; helps the model copy
// unseen words.
struct PieceDropout {
  double rate = 0;
  std::uint64_t seed = 1;
};

// Throws Error when the lists differ in length, a line is not UTF-8, no pair is left, or dropout finds nothing to
// split.
Corpus tokenize_corpus(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                       const Tokenizer& source_tokenizer, const Tokenizer& target_tokenizer, const Config& config,
                       const PieceDropout& dropout = {});

}  // namespace wasmformer
