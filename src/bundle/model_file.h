// The one-file model: a safetensors file with the config and both tokenizers in its metadata.
// Metadata keys: format "wasmformer", version, config (JSON), source_tokenizer and target_tokenizer
// (bundle/tokenizer_text.h; only the first if they are equal), source_vocabulary and target_vocabulary (JSON arrays of
// pieces, if any; only the first if they are equal), classes and tags (JSON arrays of the names of an encoder's labels,
// if any), tag_scheme (iob1 or any, if the tags are not in iob2), score_mix (the three numbers of a ScoreMix, if they
// are not the usual ones), shortlist (the number of ids that are always candidates; the tensors shortlist.offsets and
// shortlist.ids hold its lists; likewise words.* and tag_words.* are WordScores), shortlist_use (off: translating does
// not use the shortlist unless it is asked to), languages ("de-en"), length_penalty (alpha of the beam search, see
// tasks/translate/translate_options.h), all_caps (capitals=lowered in older files),
// keep, quality_calibration, limits and other texts of a card, also with .zh, and what the trainer adds.
#pragma once

#include <experimental/propagate_const>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bundle/safetensors.h"
#include "bundle/weights.h"
#include "model/transformer.h"
#include "schema/error.h"
#include "text/metrics/labels.h"
#include "text/shortlist.h"
#include "text/tokenizer.h"
#include "text/word_scores.h"

namespace wasmformer {

inline constexpr const char* model_format = "wasmformer";
inline constexpr const char* model_version = "1";
inline constexpr const char* shortlist_use_key = "shortlist_use";
inline constexpr const char* optimizer_prefix = "optimizer.";  // prefix of tensors that a checkpoint adds

// Names of an encoder's classes and tags, indexed by id; both are empty for translators.
struct LabelNames {
  std::vector<std::string> classes, tags;
  TagScheme scheme = TagScheme::iob2;  // scheme of tags that are spans
};

// A model with its tokenizers and metadata. It owns the weights and shares the tokenizers. A const
// ModelFile gives only a const model, which any number of threads may use.
struct ModelFile {
  std::experimental::propagate_const<std::unique_ptr<Transformer>> transformer;
  std::shared_ptr<const Tokenizer> source_tokenizer;
  std::shared_ptr<const Tokenizer> target_tokenizer;  // the same object if one serves both
  std::map<std::string, std::string> metadata;        // all but format, version, config and the tokenizers
  std::string precision = "f32";                      // precision of most numbers in the file: f32, f16, int8 or int4
  LabelNames labels = {};
  std::optional<Shortlist> shortlist = {};
  ScoreMix mix = {};
  std::optional<WordScores> words = {}, tag_words = {};  // next to an encoder, for its classes and tags
};

// Returns whether a metadata key describes the model itself, as config and the tokenizers do. Such keys are not in
// ModelFile::metadata.
bool is_part_of_model(const std::string& key);

// The form of loaded weights: as trained, or packed, for inference only. int8 weights are always packed.
enum class Weights { full, packed };

// parse(), with errors that name the file, if it has a name.
template <class Parse>
auto naming(const std::string& path, Parse parse) {
  try {
    return parse();
  } catch (const Error& e) {
    if (path.empty()) throw;
    throw e.with(path + ": ", "", {"file", path});
  }
}

// Throws Error unless this is a complete and consistent model file of this version. Tensors named optimizer.*
// belong to the trainer and are skipped.
ModelFile parse_model(std::string_view bytes, Weights weights = Weights::full);

// Sets every weight from the tensor of its name. Throws Error if one is missing or has another shape, or if a
// tensor is unknown to the model.
void read_weights(const SafetensorsFile& file, Transformer& transformer, Weights weights);

// extra: further tensors, named optimizer.*, and further metadata. Throws Error if `precision` cannot
// represent a weight. int8 weights stay int8: X as I8, X.scale as F32, one number per row, and
// X.input_multiplier, one F32, for weights that have one (gemm/packed.h). With Precision::int4, X is U8, [rows,
// (cols + 1) / 2], and X.scale F16, [rows, groups].
std::string serialize_model(const ModelFile& model, Precision precision, const SafetensorsFile& extra = {});

}  // namespace wasmformer
