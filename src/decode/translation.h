// What comes out of a translation: texts, tokens, and what was seen on the way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decode/search.h"

namespace wasmformer {

struct Candidate {
  std::string piece;
  TokenId id = 0;
  float log_probability = 0;
};

struct TargetToken : Candidate {
  std::vector<Candidate> top;  // most probable first; empty unless asked for
};

// Probabilities of one attention, [layers, heads, rows, columns] row-major; rows are queries and sum to 1.
// Columns of masked tokens are 0; masked heads are as they were before their output was dropped.
struct AttentionMaps {
  Index layers = 0, heads = 0, rows = 0, columns = 0;
  std::vector<float> data;
};

// [rows, columns], row-major; a row for each token.
struct Numbers {
  Index rows = 0, columns = 0;
  std::vector<float> data;
};

// One attention of one layer, heads side by side.
struct AttentionInternals {
  Numbers queries;       // [tokens, d_model]
  Numbers keys, values;  // the same; of cross-attention [source tokens, d_model]
  Numbers output;  // softmax(q kᵀ/√d_k) v before W^O, [tokens, d_model]; 0 in the columns of masked heads
};

// One layer. The residual stream is taken after each sublayer: post-norm after the norm, pre-norm the sum.
struct LayerInternals {
  AttentionInternals self_attention;
  std::optional<AttentionInternals> cross_attention;  // of decoders
  Numbers after_self_attention;                       // [tokens, d_model]
  std::optional<Numbers> after_cross_attention;       // of decoders
  Numbers after_feed_forward;
};

// One stack; its first layer reads token_embedding + positions.
struct StackInternals {
  Numbers token_embedding;  // times √d_model, [tokens, d_model]
  Numbers positions;        // [tokens, d_model]
  std::vector<LayerInternals> layers;
  Numbers output;  // what leaves the stack, [tokens, d_model]
};

// Rows of the decoder are as those of the attention maps.
struct Internals {
  StackInternals encoder, decoder;
};

// A token that the search considered, in the tree of all of them.
struct BeamNode : Candidate {
  std::int32_t parent = -1;  // its place in Translation::beam, before this one's; -1 at the begin token
  double sum = 0;            // of log-probabilities from the begin token
  double score = 0;          // sum over the length penalty at this length
  Index length = 0;          // target tokens up to here
  Fate fate = Fate::kept;
  Index hypothesis = -1;  // 0: the translation, i: alternatives[i - 1], -1: none of them
};

struct Hypothesis {
  std::string text;
  double score = 0;                 // sum of log-probabilities over the length penalty
  std::vector<TargetToken> tokens;  // the end token last, unless max_length cut it off
};

struct Translation : Hypothesis {
  std::vector<Candidate> source_tokens;  // the end token last; their log_probability is 0
  std::vector<Hypothesis> alternatives;  // n_best - 1 further ones, best first
  // Rows and columns: encoder source x source, decoder target x target, cross target x source, where target
  // row i is the step that chose tokens[i]: its input was the begin token or tokens[i - 1].
  std::optional<AttentionMaps> encoder, decoder, cross;
  std::vector<BeamNode> beam;  // the begin token first, parents before children; empty unless asked for
  std::optional<Internals> internals;
};

}  // namespace wasmformer
