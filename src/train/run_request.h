// The request that a run begins with, as options (schema/options.h); a flag "" means that the program has none.
// Texts and files are given separately (train/run_setup.h).
#pragma once

#include "schema/json.h"
#include "tasks/translate/augment.h"
#include "tasks/translate/translate_options.h"

namespace wasmformer {

struct TaskRequest {
  std::string name;
  std::optional<Index> pairs, longest;

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
  JsonObject config;
  std::optional<TaskRequest> task;
  std::optional<Index> validation;
  std::optional<TokenizerRequest> tokenizer;
  std::optional<Augmentation> augment;
  std::vector<double> weights;
  std::optional<Index> teacher_beam;
  std::optional<double> budget;
  std::optional<std::uint64_t> seed;
  std::string objective;
  std::string languages;
  StringMap metadata;
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

// From JSON with names in camelCase. Throws Error like from_json().
RunRequest run_request(const std::string& json);

// All choices: `presets` (name, values, and the peak of the learning rate), `tasks`, and the schemas of `request`,
// `run` and `config`, the config keys.
nlohmann::ordered_json describe_training();

}  // namespace wasmformer
