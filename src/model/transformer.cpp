#include "model/transformer.h"

#include <algorithm>
#include <bit>
#include <numbers>

#include "model/positions.h"
#include "ops/embedding.h"
#include "ops/linear.h"
#include "ops/linear_rows.h"
#include "ops/pooling.h"
#include "ops/residual_sum.h"

namespace wasmformer {
namespace {

// The place of every token in its sentence, counting the tokens in the cache.
std::span<const Index> places(Tape& tape, std::size_t tokens, std::span<const Span> spans, const Cache* cache) {
  Index* at = tape.scratch<Index>(static_cast<Index>(tokens));
  for (std::size_t i = 0; i < spans.size(); ++i)
    for (Index j = 0; j < spans[i].size; ++j) at[spans[i].begin + j] = j + (cache ? cache->lengths[i] : 0);
  return {at, tokens};
}

// Spans of slot_rows that hold the tokens of each slot.
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

LayerOptions layer_options(const Config& c) {
  return {.d_model = c.d_model,
          .num_heads = c.num_heads,
          .key_dim = c.head_key_dim(),
          .ffn_dim = c.ffn_dim,
          .attention = c.attention,
          .activation = c.activation,
          .decoder_self = c.decoder_self,
          .norm = c.norm,
          .residual = c.residual,
          .norm_epsilon = c.norm_epsilon,
          .dropout = c.dropout,
          .attention_dropout = c.attention_dropout,
          .activation_dropout = c.activation_dropout};
}

const Config& checked(const Config& config) {
  config.check();
  return config;
}

}  // namespace

Transformer::Transformer(const Config& config)
    : config_(checked(config)),
      add_and_norm_(config.norm, config.residual, config.dropout),
      encoder_norm_(config.d_model, config.norm_epsilon),
      decoder_norm_(config.d_model, config.norm_epsilon),
      embedding_norm_(config.d_model, config.norm_epsilon),
      convolution_(config.convolution_width, config.d_model),
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
  for (Index i = 0; i < c.encoder_layers; ++i) encoder_.emplace_back(layer_options(c));
  for (Index i = 0; i < c.decoder_layers; ++i) decoder_.emplace_back(layer_options(c));
}

template <class Self, class Visitor>
void Transformer::visit_all(Self& self, Visitor v) {
  const Config& c = self.config_;
  const ParameterScope shared{Stack::shared, no_layer, Module::embedding, "model.shared"};
  const ParameterScope encoder{Stack::encoder, no_layer, Module::embedding, "model.encoder"};
  const ParameterScope decoder{Stack::decoder, no_layer, Module::embedding, "model.decoder"};
  const auto heads = [](Module module, const char* path) {
    return ParameterScope{Stack::heads, no_layer, module, path};
  };
  const auto layer = [](const ParameterScope& stack, std::size_t i) {
    return ParameterScope{stack.stack, static_cast<Index>(i), stack.module,
                          stack.path + ".layers." + std::to_string(i)};
  };
  constexpr const char *tokens = ".embed_tokens.weight", *positions = ".embed_positions.weight";
  if (c.tie_embeddings == TieEmbeddings::all) {
    v(shared.info(Role::token_embedding, ".weight", Initializer::embedding), self.source_embedding_);
  } else {
    v(encoder.info(Role::token_embedding, tokens, Initializer::embedding), self.source_embedding_);
    v(decoder.info(Role::token_embedding, tokens, Initializer::embedding), self.target_embedding_);
  }
  if (c.positions == Positions::learned) {
    v(encoder.info(Role::position_embedding, positions, Initializer::positions), self.source_positions_);
    if (!c.is_encoder())
      v(decoder.info(Role::position_embedding, positions, Initializer::positions), self.target_positions_);
  }
  if (c.embedding_norm) LayerNorm::visit(self.embedding_norm_, encoder.under(".layernorm_embedding"), v);
  if (c.convolution_width > 0)
    Convolution::visit(self.convolution_, encoder.in(Module::convolution).under(".convolution"), v);
  for (std::size_t i = 0; i < self.encoder_.size(); ++i) EncoderLayer::visit(self.encoder_[i], layer(encoder, i), v);
  for (std::size_t i = 0; i < self.decoder_.size(); ++i) DecoderLayer::visit(self.decoder_[i], layer(decoder, i), v);
  if (c.norm == NormPosition::pre) {
    LayerNorm::visit(self.encoder_norm_, encoder.in(Module::output_norm).under(".layer_norm"), v);
    if (!c.is_encoder()) LayerNorm::visit(self.decoder_norm_, decoder.in(Module::output_norm).under(".layer_norm"), v);
  }
  if (c.tie_embeddings == TieEmbeddings::none)
    v(heads(Module::vocabulary, "lm_head").info(Role::weight, ".weight", Initializer::xavier), self.output_);
  if (c.output_bias && c.predicts_tokens())
    v(heads(Module::vocabulary, "final_logits_bias").info(Role::bias, "", Initializer::zeros), self.output_bias_);
  constexpr RolePair linear{Role::weight, Role::bias};
  if (c.pooler != Pooler::none) Linear::visit(self.pooler_, heads(Module::pooler, "pooler"), linear, v);
  if (c.classes > 0) Linear::visit(self.classifier_, heads(Module::classifier, "classifier"), linear, v);
  const ParameterScope tagger = heads(Module::tagger, "tagger");
  if (c.tags > 0) Linear::visit(self.tagger_, tagger, linear, v);
  if (c.crf) v(tagger.info(Role::transitions, ".transitions", Initializer::zeros), self.transitions_);
}

void Transformer::visit(FunctionRef<void(const ParameterInfo&, Parameter&)> v) { visit_all(*this, v); }

void Transformer::visit(FunctionRef<void(const ParameterInfo&, const Parameter&)> v) const { visit_all(*this, v); }

void Transformer::initialize(std::uint64_t seed) {
  Random random(seed);
  visit([&](const ParameterInfo& info, Parameter& p) {
    p.value.resize(p.rows, p.cols);
    const double rows = static_cast<double>(p.rows), cols = static_cast<double>(p.cols);
    const double limit = std::sqrt(6 / (rows + cols)), deviation = 1 / std::sqrt(cols);
    for (Scalar& x : p.value.reshaped<Eigen::RowMajor>()) {
      switch (info.initializer) {
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
  if (Parameter* start = zero_start_embedding()) start->value.row(config_.bos_id).setZero();
}

Parameter* Transformer::zero_start_embedding() {
  if (config_.positions != Positions::sinusoidal_marian || config_.is_encoder()) return nullptr;
  return config_.tie_embeddings == TieEmbeddings::all ? &source_embedding_ : &target_embedding_;
}

void Transformer::enable_gradients() {
  visit([](const ParameterInfo& info, Parameter& p) {
    WASMFORMER_CHECK(p.has_value(), ErrorCode::train,
                     info.name << " is int8, which cannot be trained; start from the float model");
    p.gradient.setZero(p.rows, p.cols);
  });
}

void Transformer::pack() {
  visit([](const ParameterInfo& info, Parameter& p) {
    if (info.can_be_packed() && !p.is_packed()) p.packed = PackedMatrix(p.view());
  });
}

void Transformer::unpack() {
  visit([](const ParameterInfo&, Parameter& p) {
    if (p.has_value()) p.packed = {};
  });
}

void Transformer::quantize() {
  visit([](const ParameterInfo& info, Parameter& p) {
    if (!info.can_be_packed()) return;
    WASMFORMER_CHECK(p.has_value(), ErrorCode::quantize,
                     info.name << " has no float values; is the model int8 already?");
    p.packed = PackedMatrix(wasmformer::quantize(p.view()));
    p.value.resize(0, 0);
  });
}

Index Transformer::parameter_count() const {
  Index count = 0;
  visit([&](const ParameterInfo&, const Parameter& p) { count += p.rows * p.cols; });
  return count;
}

Matrix Transformer::rotary_angles() const {
  return is_rotary() ? computed_positions(config_, config_.max_length) : Matrix();
}

Matrix Transformer::source_positions() const {
  if (!config_.has_position_table()) return Matrix();
  return config_.positions == Positions::learned ? source_positions_.value
                                                 : computed_positions(config_, config_.max_length);
}

Matrix Transformer::target_positions() const {
  return config_.positions == Positions::learned ? target_positions_.value : source_positions();
}

// Computed as far as sentences reach: a model file of a few bytes may have a max_length of a million.
const Parameter* Transformer::positions(const Parameter& learned, std::span<const Index> at) const {
  if (!config_.has_position_table() && !is_rotary()) return nullptr;
  if (config_.positions == Positions::learned) return &learned;
  constexpr std::size_t least = 64;
  std::size_t needed = least;
  for (const Index place : at) needed = std::max(needed, static_cast<std::size_t>(place) + 1);
  const Index rows = std::min(static_cast<Index>(std::bit_ceil(needed)), config_.max_length);
  auto& [mutex, tables] = *computed_positions_;
  std::lock_guard lock(mutex);
  if (tables.empty() || rows > tables.back().rows) tables.emplace_back(computed_positions(config_, rows));
  return &tables.back();
}

const Parameter& Transformer::target_embedding() const {
  return config_.tie_embeddings == TieEmbeddings::all ? source_embedding_ : target_embedding_;
}

const Parameter& Transformer::output_weight() const {
  return config_.tie_embeddings == TieEmbeddings::none ? output_ : target_embedding();
}

Transformer::Embedded Transformer::embedded(Tape& tape, const Tokens& tokens, const Parameter& table,
                                            const Parameter& learned_positions, StackRecord* record) const {
  const auto& [ids, spans, sources, cache] = tokens;
  const std::span<const Index> at = places(tape, ids.size(), spans, cache);
  for (const Index place : at)
    WASMFORMER_CHECK(place < config_.max_length, ErrorCode::embedding,
                     "place " << place << " is not below " << config_.max_length);
  const Parameter* all = positions(learned_positions, at);
  const Parameter* added = is_rotary() ? nullptr : all;
  Var x;
  std::optional<Var> fractions;
  if (config_.positions == Positions::fractions) {
    WASMFORMER_CHECK(sources.size() == spans.size(), ErrorCode::embedding,
                     sources.size() << " source sentences for " << spans.size() << " spans");
    fractions = fraction_positions(tape, at, spans, sources, config_.d_model);
    x = embedding(tape, ids, at, table, /*positions=*/nullptr, /*dropout=*/0, config_.scale_embedding);
    x = residual_sum(tape, std::nullopt, residual_sum(tape, fractions, x, /*dropout=*/0), config_.dropout);
  } else {
    x = embedding(tape, ids, at, table, added, config_.dropout, config_.scale_embedding);
  }
  if (record) {  // the sum and its summands
    record->embedded = x;
    const Index n = x.rows(), d = x.cols();
    record->token_embedding = tape.variable(n, d, /*wants_gradient=*/false);
    record->positions = fractions ? *fractions : tape.variable(n, d, /*wants_gradient=*/false);
    if (!fractions) record->positions.mutable_value().setZero();
    for (Index i = 0; i < n; ++i) {
      auto token = record->token_embedding.mutable_value().row(i);
      table.row(ids[i], token.data());
      if (config_.scale_embedding) token *= std::sqrt(static_cast<Scalar>(d));
      if (added) record->positions.mutable_value().row(i) = added->value.row(at[i]);
    }
  }
  return {{x, std::nullopt, record}, {at, is_rotary() ? &all->value : nullptr}};
}

Var Transformer::encode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, const Masks& masks,
                        StackRecord* record) const {
  check_spans(ErrorCode::encode, ids.size(), spans);
  auto [x, rotation] = embedded(tape, {.ids = ids, .spans = spans, .sources = spans, .cache = nullptr},
                                source_embedding_, source_positions_, record);
  if (config_.embedding_norm) x.x = embedding_norm_(tape, x.x);
  if (config_.convolution_width > 0) x.x = residual_sum(tape, x.x, convolution_(tape, x.x, spans), config_.dropout);
  EncoderCall call{.spans = spans,
                   .key_spans = masks.source_rows.empty() ? spans : masks.source_spans,
                   .key_rows = masks.source_rows,
                   .rotation = rotation,
                   .masked_heads = {}};
  for (std::size_t l = 0; l < encoder_.size(); ++l) {
    tape.mark(static_cast<Index>(l));
    call.masked_heads = masks.heads_of(AttentionHead::encoder, l);
    x = encoder_[l](tape, x, call);
  }
  return add_and_norm_.output(tape, x, encoder_norm_);
}

Var Transformer::decode(Tape& tape, std::span<const TokenId> ids, std::span<const Span> spans, Var memory,
                        std::span<const Span> memory_spans, Cache* cache, const Masks& masks,
                        StackRecord* record) const {
  check_spans(ErrorCode::decode, ids.size(), spans);
  WASMFORMER_CHECK(!cache || spans.size() == cache->lengths.size(), ErrorCode::decode,
                   spans.size() << " spans for " << cache->lengths.size() << " cache slots");
  auto [x, rotation] = embedded(tape, {.ids = ids, .spans = spans, .sources = memory_spans, .cache = cache},
                                target_embedding(), target_positions_, record);
  DecoderCall call{.spans = spans,
                   .key_spans = spans,
                   .key_rows = {},
                   .causal = config_.causal || cache || masks.later_tokens,
                   .rotation = rotation,
                   .memory = memory,
                   .memory_spans = memory_spans,
                   .memory_rows = masks.source_rows,
                   .masked_heads = {},
                   .masked_cross_heads = {},
                   .cache = nullptr};
  if (cache) {
    cache->append(spans);
    call.key_spans = slots(tape, *cache);
    call.key_rows = {cache->slot_rows.data(), spans.size() * cache->capacity};
  }
  for (std::size_t l = 0; l < decoder_.size(); ++l) {
    tape.mark(static_cast<Index>(encoder_.size() + l));
    call.masked_heads = masks.heads_of(AttentionHead::decoder, l);
    call.masked_cross_heads = masks.heads_of(AttentionHead::cross, l);
    if (cache) call.cache = &cache->layers[l];
    x = decoder_[l](tape, x, call);
  }
  return add_and_norm_.output(tape, x, decoder_norm_);
}

Var Transformer::classify(Tape& tape, Var memory, std::span<const Span> spans) const {
  Index* begins = tape.scratch<Index>(static_cast<Index>(spans.size()));
  for (std::size_t i = 0; i < spans.size(); ++i) begins[i] = spans[i].begin;
  Var pooled =
      config_.pooling == Pooling::mean ? mean_rows(tape, memory, spans) : rows_at(tape, memory, {begins, spans.size()});
  if (config_.pooler != Pooler::none)
    pooled = linear(tape, pooled, pooler_.weight, &pooler_.bias,
                    config_.pooler == Pooler::tanh ? Activation::tanh : Activation::relu, config_.dropout);
  return classifier_(tape, pooled);
}

Var Transformer::tag(Tape& tape, Var memory, std::span<const Index> rows) const {
  return tagger_(tape, rows_at(tape, memory, rows));
}

Var Transformer::logits(Tape& tape, Var hidden) const {
  return linear(tape, hidden, output_weight(), config_.output_bias ? &output_bias_ : nullptr);
}

Var Transformer::logits(Tape& tape, Var hidden, std::span<const TokenId> tokens,
                        std::span<const Scalar> offsets) const {
  return linear_rows(tape, hidden, output_weight(), config_.output_bias ? &output_bias_ : nullptr, tokens, offsets);
}

Transformer::OutputRows Transformer::output_rows(std::span<const TokenId> tokens) const {
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

Var Transformer::logits(Tape& tape, Var hidden, Span rows, const OutputRows& output) {
  return linear(tape, hidden, rows, output.weight, output.bias.cols > 0 ? &output.bias : nullptr);
}

}  // namespace wasmformer
