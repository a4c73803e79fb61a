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
#include "nn/layers.h"

namespace wasmformer {

// Intermediate results of encode() or decode(), if requested. Variables have one row per token and are valid
// as long as those of the tape.
struct StackRecord {
  Var token_embedding;  // [tokens, d_model], times √d_model if scaled
  Var positions;        // [tokens, d_model]; the sum of both enters the first layer, after embedding_norm
  std::vector<AttentionRecord> self_attention, cross_attention;  // one per layer that has it
  // The residual stream after each sublayer: with post-norm after the norm, with pre-norm the sum.
  std::vector<Var> residuals;  // [tokens, d_model] each
  std::vector<Var> sublayers;  // what each sublayer adds to it
  std::vector<Var> hidden;     // [tokens, ffn_dim], inside the feed-forward network of each layer
  Var output;                  // [tokens, d_model]
};

// Post-norm: x = norm(x + sublayer(x)). Pre-norm (Xiong et al. 2020): x = x + sublayer(norm(x)).
struct EncoderLayer {
  MultiHeadAttention self_attn;
  LayerNorm self_attn_layer_norm;
  FeedForward ffn;
  LayerNorm final_layer_norm;

  explicit EncoderLayer(const Config& c);
  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    self_attn.visit(path + ".self_attn", v);
    self_attn_layer_norm.visit(path + ".self_attn_layer_norm", v);
    ffn.visit(path, v);
    final_layer_norm.visit(path + ".final_layer_norm", v);
  }
};

struct DecoderLayer {
  DecoderSelf kind;
  MultiHeadAttention self_attn;  // one of these two, by the kind
  RecurrentUnit recurrent;
  LayerNorm self_attn_layer_norm;
  MultiHeadAttention encoder_attn;
  LayerNorm encoder_attn_layer_norm;
  FeedForward ffn;
  LayerNorm final_layer_norm;

  explicit DecoderLayer(const Config& c);
  template <class Visitor>
  void visit(const std::string& path, Visitor&& v) {
    if (kind == DecoderSelf::attention)
      self_attn.visit(path + ".self_attn", v);
    else
      recurrent.visit(path + ".recurrent", v);
    self_attn_layer_norm.visit(path + ".self_attn_layer_norm", v);
    encoder_attn.visit(path + ".encoder_attn", v);
    encoder_attn_layer_norm.visit(path + ".encoder_attn_layer_norm", v);
    ffn.visit(path, v);
    final_layer_norm.visit(path + ".final_layer_norm", v);
  }
};

// Several threads may call encode() and decode() of one model at once, each with a tape and a cache of its own.
class Transformer {
 public:
  // The weights are empty until initialize() or a model file sets them. Throws Error as Config::check.
  explicit Transformer(const Config& config);

  const Config& config() const { return config_; }
  // [max_length, d_model], computed or learned; empty if they are rotary.
  Matrix source_positions() const;
  Matrix target_positions() const;
  // Sines and cosines of ops/rotary.h, [max_length, d_k]; empty if positions are not rotary.
  Matrix rotary_angles() const;
  void initialize(std::uint64_t seed);
  // Gives every parameter a gradient, zero at first, so that tapes record it.
  void enable_gradients();
  // Packs the weights for inference, which then no longer reads `value`. Weights must not change between
  // pack() and unpack().
  void pack();
  void unpack();
  // Converts every weight that can_be_packed() to int8. Throws Error if one has no float values.
  void quantize();
  Index parameter_count();

  // ids: packed sentences; returns the encoder output ("memory"), [ids, d_model].
  Var encode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, const Masks& masks = {},
             StackRecord* record = nullptr);

  // ids: packed target tokens, one hypothesis per span; span i attends to memory_spans[i] of `memory` or, if
  // the masks have source_rows, of those. Returns hidden states, [ids, d_model]. With a cache, span i
  // continues slot i, and only the first call reads `memory`.
  Var decode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, Var memory,
             std::span<const Span> memory_spans, Cache* cache = nullptr, const Masks& masks = {},
             StackRecord* record = nullptr);

  // hidden: [n, d_model]; returns the scores before the softmax, [n, target_vocab_size]. Of an encoder without heads,
  // the tokens that stood in the place of masks (Devlin et al. 2019, section 3.1).
  Var logits(Tape& tape, Var hidden);

  // The output projection to these target tokens alone, and their scores for some rows of `hidden`,
  // [rows.size, tokens]: for decoding, as they have no gradient.
  struct OutputRows {
    Parameter weight, bias;
  };
  OutputRows output_rows(std::span<const TokenId> tokens);
  Var logits(Tape& tape, Var hidden, Span rows, OutputRows& output);

  // memory: what encode() returned for these spans; the scores of each sentence's classes, [spans, classes].
  Var classify(Tape& tape, Var memory, std::span<const Span> spans);
  // The scores of the tags of the tokens in these rows of `memory`, [rows, tags].
  Var tag(Tape& tape, Var memory, std::span<const Index> rows);
  // The scores of two tags as neighbours, [tags, tags], the first one's row; empty without a crf.
  Parameter& tag_transitions() { return transitions_; }

  // Marian's decoder begins with zeros instead of a token: the table whose row of bos_id is zero, or null.
  Parameter* zero_start_embedding();

  // v(name, parameter, rule) for every distinct parameter, always in the same order.
  template <class Visitor>
  void visit(Visitor&& v) {
    const bool all = config_.tie_embeddings == TieEmbeddings::all, encoder_only = config_.is_encoder();
    v(all ? "model.shared.weight" : "model.encoder.embed_tokens.weight", source_embedding_, Initializer::embedding);
    if (!all) v("model.decoder.embed_tokens.weight", target_embedding_, Initializer::embedding);
    if (config_.positions == Positions::learned) {
      v("model.encoder.embed_positions.weight", source_positions_, Initializer::positions);
      if (!encoder_only) v("model.decoder.embed_positions.weight", target_positions_, Initializer::positions);
    }
    if (config_.embedding_norm) embedding_norm_.visit("model.encoder.layernorm_embedding", v);
    for (std::size_t i = 0; i < encoder_.size(); ++i) encoder_[i].visit("model.encoder.layers." + std::to_string(i), v);
    for (std::size_t i = 0; i < decoder_.size(); ++i) decoder_[i].visit("model.decoder.layers." + std::to_string(i), v);
    if (config_.norm == NormPosition::pre) {
      encoder_norm_.visit("model.encoder.layer_norm", v);
      if (!encoder_only) decoder_norm_.visit("model.decoder.layer_norm", v);
    }
    if (config_.tie_embeddings == TieEmbeddings::none) v("lm_head.weight", output_, Initializer::xavier);
    if (config_.output_bias && config_.predicts_tokens()) v("final_logits_bias", output_bias_, Initializer::zeros);
    if (config_.pooler != Pooler::none) pooler_.visit("pooler", v);
    if (config_.classes > 0) classifier_.visit("classifier", v);
    if (config_.tags > 0) tagger_.visit("tagger", v);
    if (config_.crf) v("tagger.transitions", transitions_, Initializer::zeros);
  }

 private:
  // What passes through the layers. With pre-norm, the output of the last sublayer is added later, in one
  // pass with the next norm.
  struct Stream {
    Var x;
    std::optional<Var> waiting;
    Rotation rotation;  // of the queries and keys of self-attention
    StackRecord* record;
  };
  Stream embedded(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, const Cache* cache,
                  Parameter& table, Parameter& learned_positions, StackRecord* record);
  template <class Sublayer>
  Stream residual(Tape& tape, Stream stream, LayerNorm& norm, Sublayer sublayer);
  Var normalized(Tape& tape, Stream& stream, LayerNorm& norm);
  Var output(Tape& tape, Stream stream, LayerNorm& norm);
  bool is_rotary() const { return config_.positions == Positions::rotary; }
  Parameter& positions(Parameter& learned, std::span<const Index> at);  // rotary: angles
  Parameter& target_embedding();
  Parameter& output_weight();

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
  std::vector<EncoderLayer> encoder_;
  std::vector<DecoderLayer> decoder_;
  LayerNorm encoder_norm_, decoder_norm_;  // pre-norm only
  LayerNorm embedding_norm_;
  Parameter transitions_;                // of ops/crf.h, [tags, tags]
  Linear pooler_, classifier_, tagger_;  // [d_model, d_model], [classes, d_model], [tags, d_model]
};

}  // namespace wasmformer
