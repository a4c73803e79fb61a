#include "model/transformer.h"

#include <algorithm>
#include <bit>
#include <numbers>

#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/pooling.h"

namespace wasmformer {
namespace {

// The place of every token in its sentence, counting the tokens in the cache.
std::span<const Index> places(Tape& tape, std::size_t tokens, std::span<const Span> spans, const Cache* cache) {
  Index* at = tape.scratch<Index>(static_cast<Index>(tokens));
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (Index j = 0; j < spans[i].size; ++j) at[spans[i].begin + j] = j + (cache ? cache->lengths[i] : 0);
  return {at, tokens};
}

// Where the tokens of each slot are in slot_rows.
std::span<const Span> slots(Tape& tape, const Cache& cache) {
  Span* all = tape.scratch<Span>(static_cast<Index>(cache.lengths.size()));
  for (std::size_t i = 0; i < cache.lengths.size(); ++i)
    all[i] = {static_cast<Index>(i) * cache.capacity, cache.lengths[i]};
  return {all, cache.lengths.size()};
}

void check_spans(ErrorCode room, std::size_t tokens, std::span<const Span> spans) {
  Index at = 0;
  for (const Span& span : spans) {
    WASMFORMER_CHECK(span.begin == at && span.size >= 0, room, "spans must follow each other without gaps");
    at = span.end();
  }
  WASMFORMER_CHECK(at == static_cast<Index>(tokens), room, "spans cover " << at << " of " << tokens << " tokens");
}

Matrix computed_positions(const Config& c, Index rows) {
  const Index half = c.d_model / 2;
  switch (c.positions) {
    case Positions::sinusoidal:
      return sinusoidal_positions(rows, c.d_model);
    case Positions::sinusoidal_halves:
      return sinusoidal_halves(rows, c.d_model, half);
    case Positions::sinusoidal_marian:
      return sinusoidal_halves(rows, c.d_model, std::max<Index>(half - 1, 1));
    case Positions::rotary: {
      const Index d_k = c.d_model / c.num_heads;
      return sinusoidal_halves(rows, d_k, d_k / 2);
    }
    case Positions::learned:
      break;
  }
  return Matrix(0, c.d_model);
}

AttentionRecord* next_layer(StackRecord* record, std::vector<AttentionRecord> StackRecord::*attention) {
  return record ? &(record->*attention).emplace_back() : nullptr;
}

Var* next_hidden(StackRecord* record) { return record ? &record->hidden.emplace_back() : nullptr; }

}  // namespace

EncoderLayer::EncoderLayer(const Config& c)
    : self_attn(c.d_model, c.num_heads, c.attention_dropout, c.attention),
      self_attn_layer_norm(c.d_model, c.norm_epsilon),
      ffn(c.d_model, c.ffn_dim, c.activation, c.activation_dropout),
      final_layer_norm(c.d_model, c.norm_epsilon) {}

DecoderLayer::DecoderLayer(const Config& c)
    : kind(c.decoder_self),
      self_attn(c.d_model, c.num_heads, c.attention_dropout, c.attention),
      recurrent(c.d_model),
      self_attn_layer_norm(c.d_model, c.norm_epsilon),
      encoder_attn(c.d_model, c.num_heads, c.attention_dropout, c.attention),
      encoder_attn_layer_norm(c.d_model, c.norm_epsilon),
      ffn(c.d_model, c.ffn_dim, c.activation, c.activation_dropout),
      final_layer_norm(c.d_model, c.norm_epsilon) {}

Transformer::Transformer(const Config& config)
    : config_((config.check(), config)),
      encoder_norm_(config.d_model, config.norm_epsilon),
      decoder_norm_(config.d_model, config.norm_epsilon),
      embedding_norm_(config.d_model, config.norm_epsilon),
      pooler_(config.d_model, config.d_model),
      classifier_(config.d_model, config.classes),
      tagger_(config.d_model, config.tags) {
  const Config& c = config_;
  source_embedding_ = Parameter(c.source_vocab_size, c.d_model);
  if (c.tie_embeddings != TieEmbeddings::all) target_embedding_ = Parameter(c.target_vocab_size, c.d_model);
  if (c.tie_embeddings == TieEmbeddings::none) output_ = Parameter(c.target_vocab_size, c.d_model);
  if (c.output_bias) output_bias_ = Parameter(1, c.target_vocab_size);
  if (c.positions == Positions::learned) source_positions_ = target_positions_ = Parameter(c.max_length, c.d_model);
  if (c.crf) transitions_ = Parameter(c.tags, c.tags);
  computed_positions_ = std::make_unique<ComputedPositions>();
  for (Index i = 0; i < c.encoder_layers; ++i) encoder_.emplace_back(c);
  for (Index i = 0; i < c.decoder_layers; ++i) decoder_.emplace_back(c);
}

void Transformer::initialize(std::uint64_t seed) {
  Random random(seed);
  visit([&](const std::string&, Parameter& p, Initializer rule) {
    p.value.resize(p.rows, p.cols);
    const double rows = static_cast<double>(p.rows), cols = static_cast<double>(p.cols);
    const double limit = std::sqrt(6 / (rows + cols)), deviation = 1 / std::sqrt(cols);
    for (Scalar& x : p.value.reshaped<Eigen::RowMajor>()) {
      switch (rule) {
        case Initializer::zeros:
          x = 0;
          break;
        case Initializer::ones:
          x = 1;
          break;
        case Initializer::xavier:
        case Initializer::scores:
          x = static_cast<Scalar>(limit * (2 * random.uniform() - 1));
          break;
        case Initializer::embedding:
        case Initializer::positions: {  // Box-Muller
          const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
          x = static_cast<Scalar>(deviation * radius * std::cos(2 * std::numbers::pi * random.uniform()));
        }
      }
    }
  });
  if (Parameter* start = zero_start()) start->value.row(config_.bos_id).setZero();
}

Parameter* Transformer::zero_start() {
  return config_.positions == Positions::sinusoidal_marian && !config_.is_encoder() ? &target_embedding() : nullptr;
}

void Transformer::enable_gradients() {
  visit([](const std::string& name, Parameter& p, Initializer) {
    WASMFORMER_CHECK(p.has_value(), ErrorCode::train,
                     name << " is int8, which cannot be trained; start from the float model");
    p.gradient.setZero(p.rows, p.cols);
  });
}

void Transformer::pack() {
  visit([](const std::string&, Parameter& p, Initializer rule) {
    if (can_be_packed(rule) && !p.is_packed()) p.packed = PackedMatrix(p.view());
  });
}

void Transformer::unpack() {
  visit([](const std::string&, Parameter& p, Initializer) {
    if (p.has_value()) p.packed = {};
  });
}

void Transformer::quantize() {
  visit([](const std::string& name, Parameter& p, Initializer rule) {
    if (!can_be_packed(rule)) return;
    WASMFORMER_CHECK(p.has_value(), ErrorCode::quantize, name << " has no float values; is the model int8 already?");
    p.packed = PackedMatrix(wasmformer::quantize(p.view()));
    p.value.resize(0, 0);
  });
}

Index Transformer::parameter_count() {
  Index count = 0;
  visit([&](const std::string&, Parameter& p, Initializer) { count += p.rows * p.cols; });
  return count;
}

Matrix Transformer::rotary_angles() const {
  return is_rotary() ? computed_positions(config_, config_.max_length) : Matrix();
}

Matrix Transformer::source_positions() const {
  if (is_rotary()) return Matrix();
  return config_.positions == Positions::learned ? source_positions_.value
                                                 : computed_positions(config_, config_.max_length);
}

Matrix Transformer::target_positions() const {
  return config_.positions == Positions::learned ? target_positions_.value : source_positions();
}

// Computed as far as sentences reach: a model file of a few bytes may have a max_length of a million.
Parameter& Transformer::positions(Parameter& learned, std::span<const Index> at) {
  if (config_.positions == Positions::learned) return learned;
  constexpr std::size_t least = 64;
  std::size_t needed = least;
  for (const Index place : at) needed = std::max(needed, static_cast<std::size_t>(place) + 1);
  const Index rows = std::min(static_cast<Index>(std::bit_ceil(needed)), config_.max_length);
  auto& [mutex, tables] = *computed_positions_;
  std::lock_guard lock(mutex);
  if (tables.empty() || rows > tables.back().rows) tables.emplace_back(computed_positions(config_, rows));
  return tables.back();
}

Parameter& Transformer::target_embedding() {
  return config_.tie_embeddings == TieEmbeddings::all ? source_embedding_ : target_embedding_;
}

Parameter& Transformer::output_weight() {
  return config_.tie_embeddings == TieEmbeddings::none ? output_ : target_embedding();
}

Var Transformer::normalized(Tape& tape, Stream& stream, LayerNorm& norm) {
  if (!stream.waiting) return norm(tape, stream.x);
  const ResidualNorm result = norm(tape, stream.x, *stream.waiting, config_.dropout);
  stream.x = result.sum, stream.waiting.reset();
  if (stream.record) stream.record->residuals.push_back(stream.x);
  return result.norm;
}

template <class Sublayer>
Transformer::Stream Transformer::residual(Tape& tape, Stream stream, LayerNorm& norm, Sublayer sublayer) {
  const bool post = config_.norm == NormPlace::post;
  Var y = sublayer(post ? stream.x : normalized(tape, stream, norm));
  if (stream.record) {  // a copy: the norm takes the memory of y
    stream.record->sublayers.push_back(tape.variable(y.rows(), y.cols(), /*wants_gradient=*/false));
    stream.record->sublayers.back().mutable_value() = y.value();
  }
  if (post) {
    stream.x = norm(tape, stream.x, y, config_.dropout).norm;
    if (stream.record) stream.record->residuals.push_back(stream.x);
  } else {
    stream.waiting = y;
  }
  return stream;
}

Transformer::Stream Transformer::embedded(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans,
                                          const Cache* cache, Parameter& table, Parameter& learned_positions,
                                          StackRecord* record) {
  const std::span<const Index> at = places(tape, ids.size(), spans, cache);
  Parameter& all = positions(learned_positions, at);
  Parameter* added = is_rotary() ? nullptr : &all;
  Var x = embedding(tape, ids, at, table, added, config_.dropout, config_.scale_embedding);
  if (record) {  // the two summands
    const Index n = x.rows(), d = x.cols();
    record->token_embedding = tape.variable(n, d, /*wants_gradient=*/false);
    record->positions = tape.variable(n, d, /*wants_gradient=*/false);
    record->positions.mutable_value().setZero();
    for (Index i = 0; i < n; ++i) {
      auto token = record->token_embedding.mutable_value().row(i);
      table.row(ids[i], token.data());
      if (config_.scale_embedding) token *= std::sqrt(static_cast<Scalar>(d));
      if (added) record->positions.mutable_value().row(i) = added->value.row(at[i]);
    }
  }
  return {x, std::nullopt, {at, is_rotary() ? &all.value : nullptr}, record};
}

Var Transformer::output(Tape& tape, Stream stream, LayerNorm& norm) {
  Var y = config_.norm == NormPlace::pre ? normalized(tape, stream, norm) : stream.x;
  if (stream.record) stream.record->output = y;
  return y;
}

Var Transformer::encode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, const Masks& masks,
                        StackRecord* record) {
  check_spans(ErrorCode::encode, ids.size(), spans);
  Stream x = embedded(tape, ids, spans, /*cache=*/nullptr, source_embedding_, source_positions_, record);
  if (config_.embedding_norm) x.x = embedding_norm_(tape, x.x);
  const std::span<const Span> key_spans = masks.source_rows.empty() ? spans : masks.source_spans;
  for (std::size_t l = 0; l < encoder_.size(); ++l) {
    tape.mark(static_cast<Index>(l));
    EncoderLayer& layer = encoder_[l];
    x = residual(tape, x, layer.self_attn_layer_norm, [&](Var h) {
      MultiHeadAttention& attn = layer.self_attn;
      return attn(tape, h, attn.keys(tape, h, x.rotation), attn.v_proj(tape, h),
                  {.query_spans = spans,
                   .key_spans = key_spans,
                   .key_rows = masks.source_rows,
                   .causal = false,
                   .masked_heads = masks.of(AttentionHead::encoder, l),
                   .record = next_layer(record, &StackRecord::self_attention),
                   .rotation = x.rotation});
    });
    x = residual(tape, x, layer.final_layer_norm, [&](Var h) { return layer.ffn(tape, h, next_hidden(record)); });
  }
  return output(tape, x, encoder_norm_);
}

Var Transformer::decode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, Var memory,
                        std::span<const Span> memory_spans, Cache* cache, const Masks& masks, StackRecord* record) {
  check_spans(ErrorCode::decode, ids.size(), spans);
  WASMFORMER_CHECK(!cache || spans.size() == cache->lengths.size(), ErrorCode::decode,
                   spans.size() << " spans for " << cache->lengths.size() << " cache slots");
  Stream x = embedded(tape, ids, spans, cache, target_embedding(), target_positions_, record);
  std::span<const Span> key_spans = spans;
  std::span<const std::int32_t> key_rows;
  if (cache) {
    cache->append(spans);
    key_spans = slots(tape, *cache);
    key_rows = {cache->slot_rows.data(), spans.size() * cache->capacity};
  }
  // The new tokens are the last of their slots.
  auto cached = [&](Var fresh, Matrix& rows) {
    for (std::size_t i = 0; i < spans.size(); ++i)
      for (Index j = 0; j < spans[i].size; ++j)
        rows.row(key_rows[key_spans[i].end() - spans[i].size + j]) = fresh.value().row(spans[i].begin + j);
    return tape.constant(rows);
  };

  for (std::size_t l = 0; l < decoder_.size(); ++l) {
    tape.mark(static_cast<Index>(encoder_.size() + l));
    DecoderLayer& layer = decoder_[l];
    Cache::Layer* store = cache ? &cache->layers[l] : nullptr;
    x = residual(tape, x, layer.self_attn_layer_norm, [&](Var h) {
      if (layer.kind == DecoderSelf::ssru) {
        const KeptCells kept{store ? &store->keys : nullptr, key_spans, key_rows};
        return layer.recurrent(tape, h, spans, store ? &kept : nullptr);
      }
      MultiHeadAttention& attn = layer.self_attn;
      Var k = attn.keys(tape, h, x.rotation), v = attn.v_proj(tape, h);
      if (store) k = cached(k, store->keys), v = cached(v, store->values);
      return attn(tape, h, k, v,
                  {.query_spans = spans,
                   .key_spans = key_spans,
                   .key_rows = key_rows,
                   .causal = true,
                   .masked_heads = masks.of(AttentionHead::decoder, l),
                   .record = next_layer(record, &StackRecord::self_attention),
                   .rotation = x.rotation});
    });
    x = residual(tape, x, layer.encoder_attn_layer_norm, [&](Var h) {
      MultiHeadAttention& attn = layer.encoder_attn;
      const bool is_kept = store && store->cross_keys.size() > 0;
      Var k = is_kept ? tape.constant(store->cross_keys) : attn.k_proj(tape, memory);
      Var v = is_kept ? tape.constant(store->cross_values) : attn.v_proj(tape, memory);
      if (store && !is_kept) store->cross_keys = k.value(), store->cross_values = v.value();
      return attn(tape, h, k, v,
                  {.query_spans = spans,
                   .key_spans = memory_spans,
                   .key_rows = masks.source_rows,
                   .causal = false,
                   .masked_heads = masks.of(AttentionHead::cross, l),
                   .record = next_layer(record, &StackRecord::cross_attention)});
    });
    x = residual(tape, x, layer.final_layer_norm, [&](Var h) { return layer.ffn(tape, h, next_hidden(record)); });
  }
  return output(tape, x, decoder_norm_);
}

Var Transformer::classify(Tape& tape, Var memory, std::span<const Span> spans) {
  Index* begins = tape.scratch<Index>(static_cast<Index>(spans.size()));
  for (std::size_t i = 0; i < spans.size(); ++i) begins[i] = spans[i].begin;
  Var pooled =
      config_.pooling == Pooling::mean ? mean_rows(tape, memory, spans) : rows_at(tape, memory, {begins, spans.size()});
  if (config_.pooler != Pooler::none)
    pooled = linear(tape, pooled, pooler_.weight, &pooler_.bias,
                    config_.pooler == Pooler::tanh ? Activation::tanh : Activation::relu, config_.dropout);
  return classifier_(tape, pooled);
}

Var Transformer::tag(Tape& tape, Var memory, std::span<const Index> rows) {
  return tagger_(tape, rows_at(tape, memory, rows));
}

Var Transformer::logits(Tape& tape, Var hidden) {
  return linear(tape, hidden, output_weight(), config_.output_bias ? &output_bias_ : nullptr);
}

Transformer::OutputRows Transformer::output_rows(std::span<const TokenId> tokens) {
  const Parameter& all = output_weight();
  const auto count = static_cast<Index>(tokens.size());
  OutputRows rows{Parameter(count, all.cols), Parameter(1, config_.output_bias ? count : 0)};
  if (all.is_packed()) {
    rows.weight.packed = all.packed.rows_at(tokens);
  } else {
    rows.weight.value.resize(count, all.cols);
    for (Index i = 0; i < count; ++i) rows.weight.value.row(i) = all.value.row(tokens[i]);
  }
  if (!config_.output_bias) return rows;
  rows.bias.value.resize(1, count);
  for (Index i = 0; i < count; ++i) rows.bias.value(0, i) = output_bias_.value(0, tokens[i]);
  return rows;
}

Var Transformer::logits(Tape& tape, Var hidden, Span rows, OutputRows& output) {
  return linear(tape, hidden, rows, output.weight, output.bias.cols > 0 ? &output.bias : nullptr);
}

}  // namespace wasmformer
