// The encoder-decoder Transformer (Vaswani et al. 2017, section 3 and figure 1), or its encoder alone with heads that
// classify texts and tag tokens. One definition serves training, where the tape records and there is no cache, and
// decoding, where a cache holds what earlier steps projected.
#pragma once

#include <cmath>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "autograd/tape.h"
#include "model/cache.h"
#include "model/config.h"
#include "model/masks.h"
#include "nn/transformer_layers.h"
#include "tensor/function_ref.h"

namespace wasmformer {

// A const model may be shared: any number of threads may call encode(), decode() and what follows them at once, each
// with a tape and a cache of its own. Only initialization, training, packing and loading change a model.
class Transformer {
 public:
  // The weights are empty until initialize() or a model file sets them. Throws Error as Config::check.
  explicit Transformer(const Config& config);

  const Config& config() const { return config_; }
  // The positions that are added to embeddings (section 3.5), [max_length, d_model], computed or learned. Empty for
  // rotary and none, which add nothing, and for fractions, which depend on the length of the sentence.
  Matrix source_positions() const;
  Matrix target_positions() const;
  // Sines and cosines of ops/rotary.h, [max_length, d_k]; empty if positions are not rotary.
  Matrix rotary_angles() const;
  // Sets every weight at random, as its Initializer says (Glorot and Bengio 2010 for matrices; nn/parameter_info.h);
  // equal seeds give equal weights.
  void initialize(std::uint64_t seed);
  // Gives every parameter a gradient, zero at first, so that tapes record it. Throws Error if one is int8.
  void enable_gradients();
  // Packs the weights for inference, which then no longer reads `value`. Weights must not change between
  // pack() and unpack().
  void pack();
  void unpack();
  // Converts every weight that can_be_packed() to int8. Throws Error if one has no float values.
  void quantize();
  // Returns the number of trainable values; a shared matrix counts once.
  Index parameter_count() const;

  // Section 3.1, the left half of figure 1. ids: packed sentences; returns the encoder output ("memory"), [ids,
  // d_model]. Throws Error for spans that do not cover the ids one after the other, and for an id that is not in the
  // vocabulary or a position outside [0, max_length).
  Var encode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, const Masks& masks = {},
             StackRecord* record = nullptr) const;

  // The right half of figure 1. ids: packed target tokens, one hypothesis per span; span i attends to memory_spans[i]
  // of `memory` or, if the masks have source_rows, of those. Returns hidden states, [ids, d_model]. With a cache, span
  // i continues slot i, and only the first call reads `memory`. A token sees no later ones, unless the model has
  // causal=false, and there is no cache: keys and values of earlier steps stay as those steps computed them. Throws
  // Error as encode(), for spans that are not as many as slots, and beyond the cache's capacity.
  Var decode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, Var memory,
             std::span<const Span> memory_spans, Cache* cache = nullptr, const Masks& masks = {},
             StackRecord* record = nullptr) const;

  // The output projection (section 3.4). hidden: [n, d_model]; returns the scores before the softmax, [n,
  // target_vocab_size]. For a masked-LM encoder: scores of the original token at each position
  // (Devlin et al. 2019, section 3.1).
  Var logits(Tape& tape, Var hidden) const;

  // The scores of some target tokens, [n, tokens], each plus its offset; it has a gradient (ops/linear_rows.h).
  Var logits(Tape& tape, Var hidden, std::span<const TokenId> tokens, std::span<const Scalar> offsets) const;

  // The output projection to some target tokens alone: for decoding, as it has no gradient.
  struct OutputRows {
    Parameter weight, bias;  // [tokens, d_model], [1, tokens]; without an output bias, [1, 0]
  };
  OutputRows output_rows(std::span<const TokenId> tokens) const;
  // The scores of these tokens for some rows of `hidden`, [rows.size, tokens].
  static Var logits(Tape& tape, Var hidden, Span rows, const OutputRows& output);

  // memory: [ids, d_model], from encode() for these spans; returns the scores of each text's classes, [spans, classes].
  Var classify(Tape& tape, Var memory, std::span<const Span> spans) const;
  // The scores of the tags of the tokens in these rows of `memory`, [rows, tags].
  Var tag(Tape& tape, Var memory, std::span<const Index> rows) const;
  // The scores of two tags as neighbors, [tags, tags], the first one's row (ops/crf.h); empty without a crf.
  const Parameter& tag_transitions() const { return transitions_; }

  // Marian's decoder begins with zeros instead of a token: the table whose row of bos_id is zero, or null.
  Parameter* zero_start_embedding();

  // Calls v for every distinct parameter, always in the same order, with those of the heads last.
  void visit(FunctionRef<void(const ParameterInfo&, Parameter&)> v);
  void visit(FunctionRef<void(const ParameterInfo&, const Parameter&)> v) const;

 private:
  // The input of the first layer, and how its attention turns queries and keys.
  struct Embedded {
    ResidualStream stream;
    Rotation rotation;
  };
  // The tokens of a call; sources[i]: the span of the source sentence that spans[i] belongs to.
  struct Tokens {
    std::span<const TokenId> ids;
    std::span<const Span> spans, sources;
    const Cache* cache;
  };
  Embedded embedded(Tape& tape, const Tokens& tokens, const Parameter& table, const Parameter& learned_positions,
                    StackRecord* record) const;
  template <class Self, class Visitor>
  static void visit_all(Self& self, Visitor v);
  bool is_rotary() const { return config_.positions == Positions::rotary; }
  // The table of positions, or of angles if they are rotary; null if there is no table.
  const Parameter* positions(const Parameter& learned, std::span<const Index> at) const;
  const Parameter& target_embedding() const;
  const Parameter& output_weight() const;

  Config config_;
  Parameter source_embedding_, target_embedding_, output_;  // [vocabulary, d_model]; empty if tied
  Parameter output_bias_;                                   // [1, target vocabulary]
  Parameter source_positions_, target_positions_;           // [max_length, d_model]; learned only
  // The first rows, as many as sentences have needed; those that were given out stay, as threads may read them.
  struct ComputedPositions {
    std::mutex mutex;
    std::list<Parameter> tables;  // the last is the longest
  };
  std::unique_ptr<ComputedPositions> computed_positions_;
  AddAndNorm add_and_norm_;
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  LayerNorm encoder_norm_, decoder_norm_;  // pre-norm only
  LayerNorm embedding_norm_;
  Convolution convolution_;
  Parameter transitions_;                // scores of ops/crf.h, [tags, tags]
  Linear pooler_, classifier_, tagger_;  // [d_model, d_model], [classes, d_model], [tags, d_model]
};

}  // namespace wasmformer
