// Errors have a code, values and a sentence. A code is stable: programs may compare it. Its sentence may change.
// Length: it has all codes of the library, each with its name.
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "wasmformer/export.h"

namespace wasmformer {

// An error that a program may want to tell from others has a code of its own; the others share the code of their
// room, the part of the library that the tag of their sentences names.
enum class ErrorCode {
  // Rooms.
  add,
  annotate,
  attention,
  average,
  backward,
  base64,
  bert,
  bleu,
  by_length,
  cache,
  checkpoint,
  chrf,
  config,
  copy_rate,
  corpus,
  crf_loss,
  cross_entropy,
  decode,
  embedding,
  encode,
  evaluate,
  export_,
  export_marian,
  files,
  gemm,
  gradient,
  head_product,
  import,
  layer_norm,
  linear,
  marian,
  mask,
  mean_rows,
  model,
  mpi,
  npz,
  onnx,
  options,
  pickle,
  quantize,
  residual_norm,
  rotary,
  rows_at,
  safetensors,
  search,
  shortlist,
  ssru,
  task,
  text,
  threads,
  tokenizer,
  train,
  translate,
  wordpiece,
  yaml,
  zip,

  // Options.
  unknown_option,
  option_value,
  option_missing,
  option_twice,
  options_not_json,
  wrong_task,

  // Files of models.
  header_too_short,
  header_truncated,
  header_not_json,
  tensor_truncated,
  metadata_missing,
  model_version,
  tensor_missing,
  marian_tensor_missing,
  tensor_unknown,
  tensor_not_finite,
  no_checkpoint,
  progress_damaged,
  pairs_damaged,

  // Folders of other programs.
  unknown_folder,
  no_weights,
  file_missing,
  marian_file_missing,
  model_type,
  file_not_json,
  bin_damaged,
  not_sentencepiece,
  not_torch,

  // Texts.
  too_long,
  all_masked,

  // Training.
  vocabulary_too_large,
  vocabulary_too_small,
  no_text,
  no_pairs,
  no_usable_pairs,
  no_usable_texts,
  one_label,
  no_training_pairs,
  loss_not_finite,
  validation_not_finite,
  loss_too_high,
  gradient_not_finite,
  training_memory,

  other,
};

struct ErrorEntry {
  ErrorCode code;
  const char* name;
  const char* room;  // the tag of the sentences; "" where they name their place themselves
};

// Each code once, in the order of the enumeration.
inline constexpr ErrorEntry error_entries[] = {
    {ErrorCode::add, "add", "add"},
    {ErrorCode::annotate, "annotate", "annotate"},
    {ErrorCode::attention, "attention", "attention"},
    {ErrorCode::average, "average", "average"},
    {ErrorCode::backward, "backward", "backward"},
    {ErrorCode::base64, "base64", "base64"},
    {ErrorCode::bert, "bert", "bert"},
    {ErrorCode::bleu, "bleu", "bleu"},
    {ErrorCode::by_length, "by-length", "by length"},
    {ErrorCode::cache, "cache", "cache"},
    {ErrorCode::checkpoint, "checkpoint", "checkpoint"},
    {ErrorCode::chrf, "chrf", "chrf"},
    {ErrorCode::config, "config", "config"},
    {ErrorCode::copy_rate, "copy-rate", "copy rate"},
    {ErrorCode::corpus, "corpus", "corpus"},
    {ErrorCode::crf_loss, "crf-loss", "crf_loss"},
    {ErrorCode::cross_entropy, "cross-entropy", "cross_entropy"},
    {ErrorCode::decode, "decode", "decode"},
    {ErrorCode::embedding, "embedding", "embedding"},
    {ErrorCode::encode, "encode", "encode"},
    {ErrorCode::evaluate, "evaluate", "evaluate"},
    {ErrorCode::export_, "export", "export"},
    {ErrorCode::export_marian, "export-marian", "export-marian"},
    {ErrorCode::files, "files", "files"},
    {ErrorCode::gemm, "gemm", "gemm"},
    {ErrorCode::gradient, "gradient", "gradient"},
    {ErrorCode::head_product, "head-product", "head_product"},
    {ErrorCode::import, "import", "import"},
    {ErrorCode::layer_norm, "layer-norm", "layer_norm"},
    {ErrorCode::linear, "linear", "linear"},
    {ErrorCode::marian, "marian", "marian"},
    {ErrorCode::mask, "mask", "mask"},
    {ErrorCode::mean_rows, "mean-rows", "mean_rows"},
    {ErrorCode::model, "model", "model"},
    {ErrorCode::mpi, "mpi", "mpi"},
    {ErrorCode::npz, "npz", "npz"},
    {ErrorCode::onnx, "onnx", "onnx"},
    {ErrorCode::options, "options", "options"},
    {ErrorCode::pickle, "pickle", "pickle"},
    {ErrorCode::quantize, "quantize", "quantize"},
    {ErrorCode::residual_norm, "residual-norm", "residual_norm"},
    {ErrorCode::rotary, "rotary", "rotary"},
    {ErrorCode::rows_at, "rows-at", "rows_at"},
    {ErrorCode::safetensors, "safetensors", "safetensors"},
    {ErrorCode::search, "search", "search"},
    {ErrorCode::shortlist, "shortlist", "shortlist"},
    {ErrorCode::ssru, "ssru", "ssru"},
    {ErrorCode::task, "task", "task"},
    {ErrorCode::text, "text", "text"},
    {ErrorCode::threads, "threads", "threads"},
    {ErrorCode::tokenizer, "tokenizer", "tokenizer"},
    {ErrorCode::train, "train", "train"},
    {ErrorCode::translate, "translate", "translate"},
    {ErrorCode::wordpiece, "wordpiece", "wordpiece"},
    {ErrorCode::yaml, "yaml", "yaml"},
    {ErrorCode::zip, "zip", "zip"},

    {ErrorCode::unknown_option, "unknown-option", ""},
    {ErrorCode::option_value, "option-value", ""},
    {ErrorCode::option_missing, "option-missing", ""},
    {ErrorCode::option_twice, "option-twice", ""},
    {ErrorCode::options_not_json, "options-not-json", ""},
    {ErrorCode::wrong_task, "wrong-task", ""},

    {ErrorCode::header_too_short, "header-too-short", "safetensors"},
    {ErrorCode::header_truncated, "header-truncated", "safetensors"},
    {ErrorCode::header_not_json, "header-not-json", "safetensors"},
    {ErrorCode::tensor_truncated, "tensor-truncated", "safetensors"},
    {ErrorCode::metadata_missing, "metadata-missing", "model"},
    {ErrorCode::model_version, "model-version", "model"},
    {ErrorCode::tensor_missing, "tensor-missing", "model"},
    {ErrorCode::marian_tensor_missing, "marian-tensor-missing", "marian"},
    {ErrorCode::tensor_unknown, "tensor-unknown", "model"},
    {ErrorCode::tensor_not_finite, "tensor-not-finite", "model"},
    {ErrorCode::no_checkpoint, "no-checkpoint", "checkpoint"},
    {ErrorCode::progress_damaged, "progress-damaged", "checkpoint"},
    {ErrorCode::pairs_damaged, "pairs-damaged", "checkpoint"},

    {ErrorCode::unknown_folder, "unknown-folder", "marian"},
    {ErrorCode::no_weights, "no-weights", "import"},
    {ErrorCode::file_missing, "file-missing", "import"},
    {ErrorCode::marian_file_missing, "marian-file-missing", "marian"},
    {ErrorCode::model_type, "model-type", "import"},
    {ErrorCode::file_not_json, "file-not-json", "import"},
    {ErrorCode::bin_damaged, "bin-damaged", "marian"},
    {ErrorCode::not_sentencepiece, "not-sentencepiece", "tokenizer"},
    {ErrorCode::not_torch, "not-torch", "pickle"},

    {ErrorCode::too_long, "too-long", "translate"},
    {ErrorCode::all_masked, "all-masked", "mask"},

    {ErrorCode::vocabulary_too_large, "vocabulary-too-large", "tokenizer"},
    {ErrorCode::vocabulary_too_small, "vocabulary-too-small", "tokenizer"},
    {ErrorCode::no_text, "no-text", "tokenizer"},
    {ErrorCode::no_pairs, "no-pairs", "corpus"},
    {ErrorCode::no_usable_pairs, "no-usable-pairs", "corpus"},
    {ErrorCode::no_usable_texts, "no-usable-texts", "corpus"},
    {ErrorCode::one_label, "one-label", "train"},
    {ErrorCode::no_training_pairs, "no-training-pairs", "train"},
    {ErrorCode::loss_not_finite, "loss-not-finite", "train"},
    {ErrorCode::validation_not_finite, "validation-not-finite", "train"},
    {ErrorCode::loss_too_high, "loss-too-high", "train"},
    {ErrorCode::gradient_not_finite, "gradient-not-finite", "train"},
    {ErrorCode::training_memory, "training-memory", "train"},

    {ErrorCode::other, "other", ""},
};

constexpr const ErrorEntry& entry_of(ErrorCode code) { return error_entries[static_cast<int>(code)]; }

constexpr bool entries_are_in_order() {
  int at = 0;
  for (const ErrorEntry& entry : error_entries)
    if (static_cast<int>(entry.code) != at++) return false;
  return at == static_cast<int>(ErrorCode::other) + 1;
}
static_assert(entries_are_in_order());

// A value that the sentence of an error tells.
struct Detail {
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number> Detail(const char* its_name, Number number)
      : name(its_name), value(static_cast<double>(number)) {}
  Detail(const char* its_name, std::string text) : name(its_name), value(std::move(text)) {}

  const char* name;
  std::variant<double, std::string> value;
};
using Details = std::vector<Detail>;

class WASMFORMER_API Error : public std::runtime_error {
 public:
  // what() is the sentence behind a tag, such as "[config] ": the code's room, or the detail "place" for a code that
  // has none.
  Error(ErrorCode code, const std::string& sentence, Details details = {});

  ErrorCode code() const { return code_; }
  const std::string& sentence() const { return sentence_; }
  const Details& details() const { return details_; }

  // Returns the same error with text around its sentence, and with a further detail.
  Error with(const std::string& before, const std::string& after, Detail detail) const;

 private:
  Error(ErrorCode code, const std::string& whole, const std::string& sentence, Details details);

  ErrorCode code_;
  std::string sentence_;
  Details details_;
};

// Thrown by a call whose std::stop_token asks it to stop. The object that was called can be used further.
class WASMFORMER_API Stopped : public std::runtime_error {
 public:
  Stopped();
};

}  // namespace wasmformer
