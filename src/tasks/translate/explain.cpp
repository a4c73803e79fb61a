#include "tasks/translate/explain.h"

#include <algorithm>

namespace wasmformer {

AttentionMaps attention_maps(const std::vector<AttentionRecord>& layers, std::size_t i, Index heads, Span keys,
                             std::span<const std::int32_t> seen) {
  AttentionMaps result;
  result.layers = static_cast<Index>(layers.size());
  result.heads = heads;
  result.columns = keys.size;
  for (const AttentionRecord& layer : layers) {
    const Matrix& p = layer.probabilities[i];
    result.rows = p.rows() / heads;
    for (Index row = 0; row < p.rows(); ++row) {
      const std::size_t begin = result.data.size();
      result.data.resize(begin + static_cast<std::size_t>(keys.size), 0);
      for (Index j = 0; j < p.cols(); ++j) {
        const Index column = seen.empty() ? j : seen[static_cast<std::size_t>(j)] - keys.begin;
        result.data[begin + static_cast<std::size_t>(column)] = static_cast<float>(p(row, j));
      }
    }
  }
  return result;
}

namespace {

// Rows `span` of a variable.
MatrixData copy_rows(Var var, Span span) {
  MatrixData result{span.size, var.cols(), {}};
  const auto rows = var.value().middleRows(span.begin, span.size).reshaped<Eigen::RowMajor>();
  result.data.assign(rows.begin(), rows.end());
  return result;
}

AttentionInternals copy_attention(const AttentionRecord& r, Var projected, Span queries, Span keys) {
  return {.queries = copy_rows(r.queries, queries),
          .keys = copy_rows(r.keys, keys),
          .values = copy_rows(r.values, keys),
          .output = copy_rows(r.output, queries),
          .projected = copy_rows(projected, queries)};
}

// `memory`: what the cross-attention of these rows reads.
StackInternals copy_stack(const StackRecord& r, Span rows, Span memory) {
  StackInternals result;
  result.token_embedding = copy_rows(r.token_embedding, rows);
  result.positions = copy_rows(r.positions, rows);
  // The record lists these of all sublayers, in the order in which they ran.
  auto next_residual = r.residuals.begin(), next_sublayer = r.sublayers.begin();
  for (std::size_t l = 0; l < r.hidden.size(); ++l) {
    LayerInternals& layer = result.layers.emplace_back();
    const Var self = *next_sublayer++;
    if (r.self_attention.empty())
      layer.self_attention.projected = copy_rows(self, rows);
    else
      layer.self_attention = copy_attention(r.self_attention[l], self, rows, rows);
    layer.after_self_attention = copy_rows(*next_residual++, rows);
    if (!r.cross_attention.empty()) {
      const Var cross = *next_sublayer++;
      layer.cross_attention = copy_attention(r.cross_attention[l], cross, rows, memory);
      layer.after_cross_attention = copy_rows(*next_residual++, rows);
    }
    const Var feed_forward = *next_sublayer++;
    layer.feed_forward = {copy_rows(r.hidden[l], rows), copy_rows(feed_forward, rows)};
    layer.after_feed_forward = copy_rows(*next_residual++, rows);
  }
  result.output = copy_rows(r.output, rows);
  return result;
}

// The sources and all hypotheses of the sentences as one batch.
struct ForcedBatch {
  std::vector<TokenId> source_ids, target_ids;
  Spans source_spans;                   // of each sentence
  Spans target_spans, memory_spans;     // of each hypothesis
  std::vector<Hypothesis*> hypotheses;  // where its numbers go
  std::vector<std::size_t> best;        // of each sentence, in `hypotheses`
};

ForcedBatch pack_hypotheses(const std::vector<ForcedDecoding>& sentences, const Masks& masks, TokenId bos) {
  ForcedBatch batch;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto& [source, hypotheses, translation] = sentences[i];
    batch.source_spans.push_back({static_cast<Index>(batch.source_ids.size()), static_cast<Index>(source->size())});
    batch.source_ids.insert(batch.source_ids.end(), source->begin(), source->end());
    batch.best.push_back(batch.hypotheses.size());
    for (std::size_t n = 0; n < hypotheses->size(); ++n) {
      const std::vector<TokenId>& ids = (*hypotheses)[n].ids;
      batch.target_spans.push_back({static_cast<Index>(batch.target_ids.size()), static_cast<Index>(ids.size())});
      batch.memory_spans.push_back(masks.source_spans[i]);
      // The decoder reads the tokens shifted right, behind the begin token.
      batch.target_ids.push_back(bos);
      batch.target_ids.insert(batch.target_ids.end(), ids.begin(), ids.end() - 1);
      batch.hypotheses.push_back(n == 0 ? translation : &translation->alternatives[n - 1]);
    }
  }
  return batch;
}

// The candidates of each token of each hypothesis.
void add_top_tokens(const ModelFile& model, const ForcedBatch& batch, Var logits, Index top_tokens) {
  const Config& c = model.transformer->config();
  const Index never_chosen = c.pad_id == c.bos_id ? 1 : 2;  // pad and begin
  const Index k = std::min(top_tokens, logits.cols() - never_chosen);
  for (std::size_t h = 0; h < batch.hypotheses.size(); ++h) {
    std::vector<TargetToken>& tokens = batch.hypotheses[h]->tokens;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      const auto row = logits.mutable_value().row(batch.target_spans[h].begin + static_cast<Index>(j));
      std::vector<Candidate>& top = tokens[j].top.emplace();
      for (const auto& [id, log_probability] : most_probable(row, k, token_columns(c))) {
        Candidate& candidate = top.emplace_back();
        candidate.piece = model.target_tokenizer->piece(id);
        candidate.id = id;
        candidate.log_probability = log_probability;
      }
    }
  }
}

}  // namespace

void explain(const ModelFile& model, ThreadPool& pool, const TranslateOptions& options, const Masks& masks,
             const std::vector<ForcedDecoding>& sentences) {
  const Transformer& transformer = *model.transformer;
  const Config& c = transformer.config();
  const ForcedBatch batch = pack_hypotheses(sentences, masks, c.bos_id);

  Masks as_in_search = masks;
  as_in_search.later_tokens = true;
  Tape tape(pool, /*recording=*/false);
  StackRecord encoder, decoder;
  const Var memory = transformer.encode(tape, batch.source_ids, batch.source_spans, masks, &encoder);
  const Var hidden = transformer.decode(tape, batch.target_ids, batch.target_spans, memory, batch.memory_spans,
                                        /*cache=*/nullptr, as_in_search, &decoder);

  for (std::size_t i = 0; i < sentences.size(); ++i) {
    Translation& t = *sentences[i].translation;
    const std::size_t best = batch.best[i];
    const Span source = batch.source_spans[i], target = batch.target_spans[best];
    if (options.attention) {
      const Span visible = masks.source_spans[i];
      std::span<const std::int32_t> seen = masks.source_rows;
      if (!seen.empty()) seen = seen.subspan(visible.begin, visible.size);
      t.attention = Attention{.encoder = attention_maps(encoder.self_attention, i, c.num_heads, source, seen),
                              .decoder = attention_maps(decoder.self_attention, best, c.num_heads, target, {}),
                              .cross = attention_maps(decoder.cross_attention, best, c.num_heads, source, seen)};
    }
    if (options.internals)
      t.internals = Internals{copy_stack(encoder, source, source), copy_stack(decoder, target, source)};
  }
  if (options.top_tokens > 0) add_top_tokens(model, batch, transformer.logits(tape, hidden), options.top_tokens);
}

}  // namespace wasmformer
