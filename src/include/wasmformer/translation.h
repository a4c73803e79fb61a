// The results of a translation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wasmformer/types.h"

namespace wasmformer {

struct SourceToken {
  std::string piece;
  TokenId id = 0;
};

struct Candidate : SourceToken {
  float log_probability = 0;
};

struct TargetToken : Candidate {
  std::optional<std::vector<Candidate>> top;  // most probable first; only with top_tokens
};

// Probabilities of one attention, [layers, heads, rows, columns] row-major; rows are queries and sum to 1.
// Columns of masked tokens are 0; masked heads are as they were before their output was dropped.
struct AttentionMaps {
  Index layers = 0, heads = 0, rows = 0, columns = 0;
  std::vector<float> data;
};

// Rows x columns: encoder source x source, decoder target x target, cross target x source. Target row i is
// the step that chose tokens[i]; its input was the begin token or tokens[i - 1].
struct Attention {
  AttentionMaps encoder, decoder, cross;
};

// [rows, columns], row-major; one row per token.
struct MatrixData {
  Index rows = 0, columns = 0;
  std::vector<float> data;
};
using Numbers = MatrixData;  // its former name

// One attention of one layer, heads side by side.
struct AttentionInternals {
  MatrixData queries;    // [tokens, heads · key_dim]
  MatrixData keys;       // the same; of cross-attention [source tokens, heads · key_dim]
  MatrixData values;     // [tokens, d_model]; of cross-attention [source tokens, d_model]
  MatrixData output;     // softmax(q kᵀ/√d_k) v before W^O, [tokens, d_model]; 0 in the columns of masked heads
  MatrixData projected;  // after W^O, which is what the residual connection adds, [tokens, d_model]
};

struct FeedForwardInternals {
  MatrixData hidden;  // after the activation, [tokens, ffn_dim]
  MatrixData output;  // added by the residual connection, [tokens, d_model]
};

// One layer. The residual stream is taken after each sublayer: post-norm after the norm, pre-norm the sum.
struct LayerInternals {
  AttentionInternals self_attention;                  // a recurrent layer has `projected` alone: the output of its cell
  std::optional<AttentionInternals> cross_attention;  // decoders only
  MatrixData after_self_attention;                    // [tokens, d_model]
  std::optional<MatrixData> after_cross_attention;    // decoders only
  FeedForwardInternals feed_forward;
  MatrixData after_feed_forward;
};

// One stack; its first layer reads token_embedding + positions.
struct StackInternals {
  MatrixData token_embedding;  // times √d_model, [tokens, d_model]
  MatrixData positions;        // [tokens, d_model]
  std::vector<LayerInternals> layers;
  MatrixData output;  // output of the stack, [tokens, d_model]
};

// Rows as those of the attention maps.
struct Internals {
  StackInternals encoder, decoder;
};

// A token that beam search considered, in the tree of all of them.
struct BeamNode : Candidate {
  std::int32_t parent = -1;           // its index in Translation::beam, before this one's; -1 at the root
  double sum = 0;                     // sum of log-probabilities from the root
  double score = 0;                   // sum over the length penalty at this length
  Index length = 0;                   // target tokens up to here
  std::string state;                  // "kept", "ended" or "pruned", as BeamOutcome says
  std::optional<std::string> reason;  // reason for "pruned": "beam", "score" or "finished", as BeamOutcome says
  std::optional<Index> hypothesis;    // index of the one that ends here; 0: the translation, i: alternatives[i - 1]
};

struct Hypothesis {
  std::string text;
  double score = 0;                 // sum of log-probabilities over the length penalty
  std::vector<TargetToken> tokens;  // the end token last, unless max_length cut it off
};

struct KeptPart {
  std::string text;
  Index begin = 0;           // in bytes of UTF-8
  Index start = 0, end = 0;  // in units of UTF-16, as JavaScript counts
};
// A part that was copied instead of translated, with its position in both texts.
struct Kept {
  std::string kind;  // a name of the option `keep`; "own" for one of the caller's ranges
  KeptPart source, target;
};

// Optional parts are set if requested and the text is not empty.
struct Translation : Hypothesis {
  std::vector<SourceToken> source_tokens;     // the end token last
  std::vector<Kept> kept;                     // in the order of the source
  std::vector<Hypothesis> alternatives;       // up to n_best - 1 further ones, best first
  std::optional<Attention> attention;         // for the best hypothesis
  std::optional<std::vector<BeamNode>> beam;  // the root, which is the begin token, first; parents before children
  std::optional<Internals> internals;         // for the best hypothesis
};

}  // namespace wasmformer
