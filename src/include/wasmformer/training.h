// Texts, options and reports of training. visit() has the meaning and the range of each option; a flag "" means that
// the program has none. Length: it declares every option of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wasmformer/translate_options.h"

namespace wasmformer {

// Sentences and their translations.
struct ParallelText {
  std::vector<std::string> sources = {}, targets = {};  // lists of equal length
};

// A text with its labels.
struct AnnotatedText {
  std::string text = {};                // for a tagged text: its words with spaces between them
  std::vector<std::string> words = {};  // words of a tagged text
  Labels classes = {};                  // one, or with multi_label any number
  Labels tags = {};                     // one for each word
};

// Shares of the text: pairs that are added per pair.
struct Augmentation {
  double concat = 0;
  double names = 0;
  double lowercase = 0;
  double uppercase = 0;
  double no_final_punctuation = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    const Range share = between(0, 100);
    v({.name = "concat", .help = "two to four pairs as one", .range = share, .alias = "join"}, concat);
    v({"names", "names and numbers replaced by others, the same on both sides", share}, names);
    v({.name = "lowercase",
       .help = "both sides in lower case, or only their first letter",
       .range = share,
       .alias = "small"},
      lowercase);
    v({.name = "uppercase", .help = "both sides in capitals", .range = share, .alias = "capitals"}, uppercase);
    v({.name = "no_final_punctuation",
       .help = "both sides without their final punctuation mark",
       .range = share,
       .alias = "unmarked"},
      no_final_punctuation);
  }
  bool operator==(const Augmentation&) const = default;
};

// Bounds of RunRequest::weights.
inline constexpr Range corpus_weights = above(0).up_to(1000);

// Made-up pairs to train on, such as reversed words.
struct TaskRequest {
  std::string name = {};
  std::optional<Index> pairs = {}, longest = {};

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"name", "made-up task to train on instead of texts", {}, "task"}, name);
    v({"pairs", "how many pairs of the task to train on; 200 more are for validation", at_least(1)}, pairs);
    v({"longest",
       "train on sources of at most so many characters, and validate on longer ones, to see what a model makes of "
       "lengths that it has not met",
       at_least(1)},
      longest);
  }
};

enum class TokenizerType { character, word, bpe, unigram };
WASMFORMER_ENUM_NAMES(TokenizerType, "char", "word", "bpe", "unigram");
enum class Normalization { nmt_nfkc, identity };
WASMFORMER_ENUM_NAMES(Normalization, "nmt_nfkc", "identity");

// A tokenizer made from the pairs to train on.
struct TokenizerRequest {
  TokenizerType type = TokenizerType::bpe;
  std::optional<Index> vocab_size = {};
  bool joint = true;
  std::optional<Normalization> normalization = {};

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"type", "char: all characters; word: the most frequent words; bpe and unigram learn pieces"}, type);
    v({"vocab_size",
       "pieces including four special ones, by default 2000, or for texts of many different characters 1000 more than "
       "these; 8000 words; not for char",
       between(5, 1 << 20)},
      vocab_size);
    v({"joint", "one vocabulary for both sides"}, joint);
    v({"normalization", "for bpe and unigram: Unicode's compatibility form, or the text as it is"}, normalization);
  }
};

// Input that a run begins with.
struct RunRequest {
  std::string preset = {};  // toy, tiny, small, base, big, multi30k-tiny, kyubyong, student-tiny or student-micro
  JsonText config = {};     // such as {R"({"dropout": 0.3})"}; the keys of --set in `wasmformer train --help`
  std::optional<TaskRequest> task = {};
  std::optional<Index> validation = {};
  std::optional<TokenizerRequest> tokenizer = {};
  std::optional<Augmentation> augment = {};
  std::vector<double> weights = {};
  std::optional<Index> teacher_beam = {};
  std::optional<double> budget = {};
  std::optional<std::uint64_t> seed = {};
  std::string objective = {};
  std::string languages = {};
  StringMap metadata = {};
  bool resume = false;
  bool keep_texts = true;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"preset", "sizes and settings to begin with; toy for a task, else tiny (small in the program)"}, preset);
    v({"config", "config keys that differ from the preset or the model", {}, ""}, config);
    v({"task", "made-up pairs instead of texts"}, task);
    v({"validation",
       "pairs held back from the text for validation, drawn by the seed; 0: as many as 500 of those trained on",
       at_least(0)},
      validation);
    v({"tokenizer", "tokenizer made from the text; by default char for a task, bpe otherwise", {}, ""}, tokenizer);
    v({"augment", "changed copies that are added to the pairs to train on", {}, ""}, augment);
    v({"weights", "how many times the pairs of each corpus are taken; a fraction takes a share of them", corpus_weights,
       ""},
      weights);
    v({"teacher_beam", "the teacher's beam size, 4 by default; the hypothesis nearest to the target is learned",
       hypothesis_counts},
      teacher_beam);
    v({"budget",
       "minutes for the whole run: settings that are not given are chosen for the texts and this machine's speed, and "
       "the run ends then",
       above(0)},
      budget);
    v({"seed", "seed of weights, dropout, the order of the data and the held-back pairs"}, seed);
    v({"objective", "what to learn from plain text: mask, to fill in hidden tokens, is the default"}, objective);
    v({"languages", "SOURCE-TARGET, stored in the model, such as de-en"}, languages);
    v({"metadata", "strings to store in the model", {}, ""}, metadata);
    v({"resume", "continue the run whose checkpoint is given"}, resume);
    v({"keep_texts", "store the sentence pairs in checkpoints", {}, ""}, keep_texts);
  }
};

inline constexpr double seconds_per_minute = 60;

// The goal that is reached first ends a run.
struct RunOptions {
  std::optional<Index> steps = {};
  std::optional<double> epochs = {}, minutes = {}, budget = {};
  std::optional<double> patience = {};
  Index report_every = 10;
  std::optional<Index> validate_every = {};
  Index samples = 5;
  bool attention = false;
  std::vector<std::string> pinned = {};
  std::optional<Index> pin_every = {};

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"steps", "stop after this many steps", at_least(1), "max-steps"}, steps);
    v({"epochs", "stop after this many passes over the training pairs", above(0), "max-epochs"}, epochs);
    v({"minutes", "stop after this many minutes", above(0), "max-minutes"}, minutes);
    v({"budget", "end the schedule, and with it the run, after this many minutes, however fast the steps are", above(0),
       ""},
      budget);
    v({"patience",
       "stop after this many passes without a better validation; 0 for never; by default 20 for labelled and tagged "
       "texts, unless steps or epochs are given",
       at_least(0)},
      patience);
    v({"report_every", "steps between events", at_least(1)}, report_every);
    v({"validate_every", "steps between validations; by default once per epoch", at_least(1)}, validate_every);
    v({"samples", "validation pairs, from the first, whose translations an event shows", at_least(0), ""}, samples);
    v({"attention", "include the attention of the samples", {}, ""}, attention);
    v({"pinned", "texts to translate greedily, with attention, during the run", {}, ""}, pinned);
    v({"pin_every", "steps between translations of the pinned texts; by default report_every", at_least(1), ""},
      pin_every);
  }

  // Decided by the front end, not by its users.

  // Point from which the goals count: the current state of the run, or its beginning.
  enum class Origin { here, beginning };
  Origin goals_count_from = Origin::here;
  double earlier_seconds = 0;  // spent on the run before, which a goal from the beginning includes
  // Without validate_every: epochs that end in fewer steps are not each validated, which would take most of the time.
  Index least_steps_between_validations = 20;
  std::optional<double> save_every = {};  // seconds between saves, besides those after validations; none: no saves
};

// One step of training.
struct StepReport {
  double loss = 0;  // label-smoothed, mean over the predicted tokens or labels
  double learning_rate = 0;
  double gradient_norm = 0;  // before clipping
  Index units = 0;           // units that it learned from, in all ranks
};

// Scores of a model on validation texts, apart from its loss.
struct ValidationScores {
  std::map<std::string, double> figures = {};  // "bleu", "chrf", "accuracy" and others of the log, most in percent
  std::map<std::string, double> further = {};  // other scores, which are not logged
  std::optional<double> error = {};            // the best model has the lowest error, or without errors the lowest loss
};

// The loss and the scores of a model on the texts that it is validated on.
struct Validation {
  double loss = 0;  // mean over the predicted tokens or labels, without dropout and smoothing
  ValidationScores scores = {};
  bool is_best = false;  // has the least scores.error, with a small share of the loss, or without one the least loss
};

namespace training_events {
// Figures since the last report.
struct Report {
  Index step = 0;                               // since the beginning of the run
  double epoch = 0;                             // passes over the examples, the current one in part
  double loss = 0;                              // mean over the steps, with label smoothing
  double learning_rate = 0, gradient_norm = 0;  // values of the last step; before clipping
  Index units = 0;                              // units that the steps learned from: StepReport::units
  double step_seconds = 0;                      // time that the steps took
  std::optional<Validation> validation = {};
  bool pins = false;  // true to show the translations of RunOptions::pinned
};
}  // namespace training_events

}  // namespace wasmformer
