// What a run begins with and how far it goes, as options (model/options.h); a flag "" means that the program has none.
// Texts and files come beside them (train/plan.h).
#pragma once

#include "tasks/annotate/labels.h"
#include "tasks/translate/augment.h"

namespace wasmformer {

struct TaskRequest {
  std::string name;
  std::optional<Index> pairs;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"name", "made-up task to train on instead of texts", {}, "task"}, name);
    v({"pairs", "how many pairs of the task to train on; 200 more are for validation", at_least(1)}, pairs);
  }
};

enum class TokenizerType { character, word, bpe, unigram };
WASMFORMER_ENUM_NAMES(TokenizerType, "char", "word", "bpe", "unigram");
enum class Normalization { nmt_nfkc, identity };
WASMFORMER_ENUM_NAMES(Normalization, "nmt_nfkc", "identity");

// A tokenizer made from the pairs to train on.
struct TokenizerRequest {
  TokenizerType type = TokenizerType::bpe;
  std::optional<Index> vocab_size;
  bool joint = true;
  std::optional<Normalization> normalization;

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

struct RunRequest {
  std::string preset;
  std::string config = "{}";
  std::optional<TaskRequest> task;
  std::optional<Objective> objective;  // trains an encoder; not an option, as the kind of texts decides it
  std::optional<Index> validation;
  std::optional<TokenizerRequest> tokenizer;
  std::optional<Augmentation> augment;
  std::optional<std::uint64_t> seed;
  std::string languages;
  std::string metadata = "{}";
  bool resume = false;
  bool keep_texts = true;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"preset", "sizes and settings to begin with; toy for a task, else tiny (small in the program)"}, preset);
    v({"config", "JSON object of the config keys that differ from the preset or the model", {}, ""}, config);
    v({"task", "made-up pairs instead of texts"}, task);
    v({"validation", "pairs held back from the text for validation, drawn by the seed", at_least(1)}, validation);
    v({"tokenizer", "tokenizer made from the text; by default char for a task, bpe otherwise", {}, ""}, tokenizer);
    v({"augment", "changed copies that are added to the pairs to train on", {}, ""}, augment);
    v({"seed", "seed of weights, dropout, the order of the data and the held-back pairs"}, seed);
    v({"languages", "SOURCE-TARGET, stored in the model, such as de-en"}, languages);
    v({"metadata", "JSON object of strings to store in the model", {}, ""}, metadata);
    v({"resume", "continue the run whose checkpoint is given"}, resume);
    v({"keep_texts", "store the sentence pairs in checkpoints", {}, ""}, keep_texts);
  }
};

// How far a run goes from where it stands; the goal that is reached first ends it.
struct RunOptions {
  std::optional<Index> steps;
  std::optional<double> epochs, minutes;
  Index report_every = 10;
  std::optional<Index> validate_every;
  Index samples = 5;
  bool attention = false;
  std::vector<std::string> pinned;
  std::optional<Index> pin_every;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"steps", "stop after this many steps", at_least(1)}, steps);
    v({"epochs", "stop after this many passes over the training pairs", above(0)}, epochs);
    v({"minutes", "stop after this many minutes", above(0)}, minutes);
    v({"report_every", "steps between events", at_least(1)}, report_every);
    v({"validate_every", "steps between validations; by default once per epoch", at_least(1)}, validate_every);
    v({"samples", "validation pairs, from the first, whose translations an event shows", at_least(0)}, samples);
    v({"attention", "include the attention of the samples"}, attention);
    v({"pinned", "texts to translate greedily, with attention, during the run"}, pinned);
    v({"pin_every", "steps between translations of the pinned texts; by default report_every", at_least(1)}, pin_every);
  }
};

// From JSON with names in camelCase; config and metadata may be objects there. Throws Error like model/options.h.
RunRequest run_request(const std::string& json);

// JSON of all choices: `presets` (name, values, and the peak of the learning rate), `tasks`, and
// the schemas of `run_request`, `run_options` and `config`, the config keys.
std::string describe_training();

}  // namespace wasmformer
