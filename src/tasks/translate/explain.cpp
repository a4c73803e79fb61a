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
Numbers numbers(Var var, Span span) {
  Numbers result{span.size, var.cols(), {}};
  const auto rows = var.value().middleRows(span.begin, span.size).reshaped<Eigen::RowMajor>();
  result.data.assign(rows.begin(), rows.end());
  return result;
}

AttentionInternals numbers(const AttentionRecord& r, Var projected, Span queries, Span keys) {
  return {numbers(r.queries, queries), numbers(r.keys, keys), numbers(r.values, keys), numbers(r.output, queries),
          numbers(projected, queries)};
}

// `memory`: what the cross-attention of these rows reads.
StackInternals numbers(const StackRecord& r, Span rows, Span memory) {
  StackInternals result;
  result.token_embedding = numbers(r.token_embedding, rows);
  result.positions = numbers(r.positions, rows);
  auto stream = r.residuals.begin(), added = r.sublayers.begin();
  for (std::size_t l = 0; l < r.hidden.size(); ++l) {
    LayerInternals& layer = result.layers.emplace_back();
    if (r.self_attention.empty())
      layer.self_attention.projected = numbers(*added++, rows);
    else
      layer.self_attention = numbers(r.self_attention[l], *added++, rows, rows);
    layer.after_self_attention = numbers(*stream++, rows);
    if (!r.cross_attention.empty()) {
      layer.cross_attention = numbers(r.cross_attention[l], *added++, rows, memory);
      layer.after_cross_attention = numbers(*stream++, rows);
    }
    layer.feed_forward = {numbers(r.hidden[l], rows), numbers(*added++, rows)};
    layer.after_feed_forward = numbers(*stream++, rows);
  }
  result.output = numbers(r.output, rows);
  return result;
}

}  // namespace

void explain(const ModelFile& model, ThreadPool& pool, const TranslateOptions& options, const Masks& masks,
             const std::vector<Explained>& sentences) {
  const Transformer& transformer = *model.transformer;
  const Config& c = transformer.config();
  std::vector<TokenId> source_ids, target_ids;
  Spans source_spans, target_spans, memory_spans;
  std::vector<Hypothesis*> hypotheses;
  std::vector<std::size_t> best;  // of each sentence, in `hypotheses`
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto& [source, found, translation] = sentences[i];
    source_spans.push_back({static_cast<Index>(source_ids.size()), static_cast<Index>(source->size())});
    source_ids.insert(source_ids.end(), source->begin(), source->end());
    best.push_back(hypotheses.size());
    for (std::size_t n = 0; n < found->size(); ++n) {
      const auto& ids = (*found)[n].ids;
      target_spans.push_back({static_cast<Index>(target_ids.size()), static_cast<Index>(ids.size())});
      memory_spans.push_back(masks.source_spans[i]);
      target_ids.push_back(c.bos_id);
      target_ids.insert(target_ids.end(), ids.begin(), ids.end() - 1);
      hypotheses.push_back(n == 0 ? translation : &translation->alternatives[n - 1]);
    }
  }

  Tape tape(pool, /*recording=*/false);
  StackRecord encoder, decoder;
  Var memory = transformer.encode(tape, source_ids, source_spans, masks, &encoder);
  Var hidden =
      transformer.decode(tape, target_ids, target_spans, memory, memory_spans, /*cache=*/nullptr, masks, &decoder);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    Translation& t = *sentences[i].translation;
    const Span source = source_spans[i], target = target_spans[best[i]];
    if (options.attention) {
      const Span visible = masks.source_spans[i];
      std::span<const std::int32_t> seen = masks.source_rows;
      if (!seen.empty()) seen = seen.subspan(visible.begin, visible.size);
      t.attention = Attention{attention_maps(encoder.self_attention, i, c.num_heads, source, seen),
                              attention_maps(decoder.self_attention, best[i], c.num_heads, target, {}),
                              attention_maps(decoder.cross_attention, best[i], c.num_heads, source, seen)};
    }
    if (options.internals) t.internals = Internals{numbers(encoder, source, source), numbers(decoder, target, source)};
  }
  if (options.top_tokens == 0) return;
  Var logits = transformer.logits(tape, hidden);
  const Index chosen = logits.cols() - (c.pad_id == c.bos_id ? 1 : 2);  // pad and begin never are
  const Index k = std::min(options.top_tokens, chosen);
  for (std::size_t h = 0; h < hypotheses.size(); ++h) {
    for (std::size_t j = 0; j < hypotheses[h]->tokens.size(); ++j) {
      const auto row = logits.mutable_value().row(target_spans[h].begin + static_cast<Index>(j));
      auto& top = hypotheses[h]->tokens[j].top.emplace();
      for (const auto& [id, log_probability] : most_probable(row, k, c))
        top.push_back({{model.target_tokenizer->piece(id), id}, log_probability});
    }
  }
}

}  // namespace wasmformer
