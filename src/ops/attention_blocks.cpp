#include "ops/attention_blocks.h"

#include <algorithm>

namespace wasmformer {
namespace {

void check_shapes(Var q, Var k, Var v, const AttentionOptions& options) {
  WASMFORMER_CHECK(k.rows() == v.rows(), ErrorCode::attention,
                   "keys " << shape(k) << " and values " << shape(v) << " differ in rows");
  WASMFORMER_CHECK(q.cols() == k.cols(), ErrorCode::attention,
                   "queries " << shape(q) << " and keys " << shape(k) << " differ in columns");
  for (const Index features : {q.cols(), v.cols()})
    WASMFORMER_CHECK(options.heads > 0 && features % options.heads == 0, ErrorCode::attention,
                     features << " features do not divide into " << options.heads << " heads");
}

void check_spans(Var q, Var k, std::span<const Span> query_spans, std::span<const Span> key_spans,
                 const AttentionOptions& options) {
  WASMFORMER_CHECK(query_spans.size() == key_spans.size(), ErrorCode::attention,
                   query_spans.size() << " query spans and " << key_spans.size() << " key spans");
  const std::span<const std::int32_t> key_rows = options.key_rows;
  const Index keys = key_rows.empty() ? k.rows() : static_cast<Index>(key_rows.size());
  for (std::size_t i = 0; i < query_spans.size(); ++i) {
    const Span a = query_spans[i], b = key_spans[i];
    WASMFORMER_CHECK(a.begin >= 0 && a.end() <= q.rows() && b.begin >= 0 && b.end() <= keys &&
                         b.size >= (options.causal ? a.size : Index(a.size > 0)),
                     ErrorCode::attention,
                     "sentence " << i << ": queries " << a.begin << " to " << a.end() << " and keys " << b.begin
                                 << " to " << b.end() << " do not fit");
    if (key_rows.empty()) continue;
    for (std::int32_t row : key_rows.subspan(static_cast<std::size_t>(b.begin), static_cast<std::size_t>(b.size)))
      WASMFORMER_CHECK(row >= 0 && row < k.rows(), ErrorCode::attention,
                       "key row " << row << " is not below the " << k.rows() << " rows of the keys");
  }
}

}  // namespace

AttentionPlan plan_attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans,
                             std::span<const Span> key_spans, const AttentionOptions& options) {
  check_shapes(q, k, v, options);
  check_spans(q, k, query_spans, key_spans, options);
  constexpr Index work_per_chunk = 1 << 17, max_chunks = 16;
  const Index heads = options.heads, count = static_cast<Index>(query_spans.size()) * heads;
  const Index d_k = q.cols() / heads, d_v = v.cols() / heads;
  AttentionBlock* blocks = tape.scratch<AttentionBlock>(count);
  AttentionPlan plan{{blocks, static_cast<std::size_t>(count)}};
  Index work = 0;
  for (Index i = 0; i < count; ++i) {
    const Index sentence = i / heads, head = i % heads;
    const Span a = query_spans[sentence], b = key_spans[sentence];
    const Index first = (a.begin * heads + head) * numbered_keys;
    blocks[i] = {.query = a.begin,
                 .key = b.begin,
                 .L = a.size,
                 .S = b.size,
                 .key_columns = {head * d_k, d_k},
                 .value_columns = {head * d_v, d_v},
                 .sentence = sentence,
                 .head = head,
                 .first = first,
                 .step = heads * numbered_keys};
    work += a.size * b.size * (d_k + d_v) / 2;
    plan.max_queries = std::max(plan.max_queries, a.size);
    plan.max_keys = std::max(plan.max_keys, b.size);
  }
  plan.chunks = std::clamp<Index>((1 + work) / work_per_chunk, 1, max_chunks);
  plan.grain = std::max<Index>((count + plan.chunks - 1) / plan.chunks, 1);

  if (options.probabilities) {
    options.probabilities->clear();
    for (std::size_t i = 0; i < query_spans.size(); ++i)
      options.probabilities->push_back(Matrix::Zero(heads * query_spans[i].size, key_spans[i].size));
  }
  return plan;
}

}  // namespace wasmformer
