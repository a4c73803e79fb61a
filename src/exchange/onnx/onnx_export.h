// A model as ONNX graphs, for ONNX Runtime in pages and natively.
#pragma once

#include <map>
#include <string>

#include "bundle/model_file.h"

namespace wasmformer {

// The bytes of each file, by its name. For a translator: encoder_model.onnx, decoder_model_merged.onnx and those of
// marian_settings(). Names are those of Hugging Face's Optimum; numbers are float, ids and masks int64; b
// sentences of s source tokens, t target tokens after p that came before, h heads of d_k features:
//   encoder: input_ids, attention_mask [b, s] -> last_hidden_state [b, s, d_model]
//   decoder: input_ids [b, t], encoder_hidden_states [b, s, d_model], encoder_attention_mask [b, s],
//     past_key_values.LAYER.decoder.key and .value [b, h, p, d_k], p = 0 at first, and
//     past_key_values.LAYER.encoder.key and .value, [b, h, 0, d_k] at first, [b, h, s, d_k] then
//     -> logits [b, t, target_vocab_size], and present.LAYER.* to be the past of the next call.
//     A recurrent decoder takes, instead of .decoder.key and .value: position_ids [b, t], counted from 0, and
//     past_key_values.LAYER.decoder.state [b, d_model], 0 at first.
// For an encoder alone:
//   model.onnx: input_ids, attention_mask [b, s] -> logits: [b, classes] from a classifier, [b, s, tags] from a tagger,
//     [b, s, vocabulary] from a model that fills masks. A model that classifies and tags also returns tag_logits,
//     one with a crf tag_transitions, [tags, tags].
//   config.json, with id2label and the ids of special tokens; vocab.txt and tokenizer_config.json for BERT's tokenizer,
//     source.spm and vocab.json for others.
// One graph serves the first call and the later ones, so that there is no use_cache_branch. Throws Error as
// marian_settings(), and when a graph would be above 2 GiB.
std::map<std::string, std::string> export_onnx(const ModelFile& model);

}  // namespace wasmformer
