// The steps of starting a run (train/run_setup.h): new, from a checkpoint, or from a model to fine-tune; and its texts.
#pragma once

#include <array>
#include <optional>

#include "bundle/model_file.h"
#include "tasks/task.h"
#include "train/checkpoint.h"

namespace wasmformer {

enum class TokenizerType;  // wasmformer/training.h

struct TrainingTexts {
  std::shared_ptr<Texts> train, valid;
};

// The preset `toy`, as long as the task takes.
Preset task_preset(const std::string& task);

// `pairs` of a synthetic task to train on (0: as many as it takes), and task_valid_pairs others to validate on. Unless
// `longest` is 0, sources to train on have at most so many characters, and those to validate on more. Throws Error as
// make_pairs() does.
TrainingTexts task_texts(const std::string& task, Index pairs, std::uint64_t seed, Index longest = 0);

// At most `most` of the texts, drawn by the seed.
std::shared_ptr<Texts> drawn(const Texts& all, Index most, std::uint64_t seed);
// Holds back `count` texts for validation, drawn by the seed. Throws Error if none would be left.
TrainingTexts hold_back(const Texts& all, Index count, std::uint64_t seed);

// The texts that a checkpoint carries, or those of its synthetic task; nullopt if it has neither. Throws Error for
// damaged ones.
std::optional<TrainingTexts> stored_texts(const ModelFile& model, std::uint64_t seed);
std::string to_json(const TrainingTexts& texts);
std::string task_name(const std::string& task, Index pairs, Index longest = 0);

// The characters of the texts, or their most frequent words (text/vocabulary.h); `joint`: one for both sides.
struct TokenizerPair {
  std::shared_ptr<const Tokenizer> source, target;
};
TokenizerPair counted_tokenizers(const std::vector<std::vector<std::string>>& sides, TokenizerType type,
                                 Index vocab_size, bool joint);

// Estimate of the memory of a run, in bytes: weights, gradients, moments, a checkpoint, and the activations of a batch.
double training_bytes(const Config& config, const TrainingConfig& training);

struct TrainingStart {
  ModelFile model;
  TrainingConfig training;
  std::string checkpoint;  // bytes to continue from; empty for a new run
};

// New weights. Sizes of vocabularies and special ids come from the tokenizers. Throws Error when they have no
// common end token, a setting is impossible, or the run would take more than `max_bytes`.
TrainingStart fresh_start(Preset settings, const TokenizerPair& tokenizers, double max_bytes);
TrainingStart resumed_start(std::string checkpoint);
// Keys of metadata that say how good the weights are.
inline constexpr std::array figures_of_weights{"valid_loss", "valid_bleu", "valid_accuracy", "valid_span_f1",
                                               "valid_tag_accuracy"};
// `changes`: training settings, dropout, and layers, where new ones begin at random; other sizes stay.
// int8 weights become floats again, and the figures of the model's quality and its shortlist are dropped. With
// `tokenizers` the model gets new tables for their vocabularies, which start from the rows of the same or of shorter
// pieces.
TrainingStart fine_tuning_start(std::string_view model, const TrainingConfig& training, const JsonObject& changes,
                                const TokenizerPair& tokenizers = {});

// An encoder with new heads for these labels: with new weights, or with the encoder and the vocabulary of `model`.
TrainingStart encoder_start(Preset settings, std::shared_ptr<const Tokenizer> tokenizer, LabelNames labels,
                            double max_bytes);
TrainingStart encoder_start(std::string_view model, const TrainingConfig& training, const JsonObject& changes,
                            LabelNames labels);

// Takes sizes of vocabularies and the special ids from the tokenizers.
void take_vocabulary(Config& config, const Tokenizer& source, const Tokenizer& target);
// Takes the numbers of classes and tags from the labels; also removes the decoder and ties all embeddings.
void take_labels(Config& config, const LabelNames& labels);
// Returns whether a config key is a vocabulary size, a special id, or a number of classes or tags.
bool is_decided_by_vocabulary(const std::string& key);

}  // namespace wasmformer
