#include "ops/attention.h"

#include <cmath>

#include "ops/attention_kernels.h"
#include "ops/dropout.h"

namespace wasmformer {
namespace {

using namespace attention_kernels;

constexpr Index tile_rows = 16;  // queries whose scores are in memory at a time

// One head of one sentence: L queries, S keys, d_k features from `column` on.
struct Block {
  Index query, key, L, S, column, d_k, sentence, head;
  Index visible(Index i, bool causal) const { return causal ? S - L + i + 1 : S; }  // keys that query i sees
};

struct Blocks {
  std::span<const Span> query_spans, key_spans;
  Index heads, d_k;
  Index size() const { return static_cast<Index>(query_spans.size()) * heads; }
  Block operator[](Index i) const {
    const Index sentence = i / heads, head = i % heads;
    const Span q = query_spans[sentence], k = key_spans[sentence];
    return {q.begin, k.begin, q.size, k.size, head * d_k, d_k, sentence, head};
  }
};

// Chunks of about equal work, few enough that their scratch is small, by shapes only.
struct Plan {
  Index grain = 1, chunks = 0, most_queries = 0, most_keys = 0;

  explicit Plan(const Blocks& blocks) {
    constexpr Index work_per_chunk = 1 << 17, most_chunks = 16;
    Index work = 1;
    for (Index i = 0; i < blocks.size(); i += blocks.heads) {
      const Block b = blocks[i];
      work += blocks.heads * b.L * b.S * b.d_k;
      most_queries = std::max(most_queries, b.L);
      most_keys = std::max(most_keys, b.S);
    }
    chunks = std::clamp<Index>(work / work_per_chunk, 1, most_chunks);
    grain = std::max<Index>((blocks.size() + chunks - 1) / chunks, 1);
  }
};

// Memory of a chunk; take() gives out the next piece.
struct Scratch {
  Scalar* next;
  Scalar* take(Index count) { return std::exchange(next, next + padded(count)); }
};

// Whole vectors of rows [begin, begin + count) of a head: in place, or a copy with zeros behind d_k features.
Rows whole_rows(ConstView m, Index begin, Index count, const Block& b, Scratch& scratch,
                const std::int32_t* at = nullptr) {
  const Rows rows{m.data() + b.column + (at ? 0 : begin * m.cols()), m.cols(), at ? at + begin : nullptr};
  const Index width = padded(b.d_k);
  if (width == b.d_k) return rows;
  Scalar* copy = scratch.take(count * width);
  std::fill_n(copy, count * width, Scalar(0));
  for (Index j = 0; j < count; ++j) std::copy_n(rows[j], b.d_k, copy + j * width);
  return {copy, width};
}

// The same for results, which store() brings home.
class WholeResults {
 public:
  WholeResults(View m, Index begin, Index count, const Block& b, Scratch& scratch)
      : m_(m.data() + begin * m.cols() + b.column), stride_(m.cols()), count_(count), d_k_(b.d_k) {
    rows_ = whole_rows(ConstView(m.data(), m.rows(), m.cols()), begin, count, b, scratch);
  }
  // Results that are whole vectors already.
  WholeResults(Scalar* rows, const Block& b)
      : m_(rows), stride_(padded(b.d_k)), count_(b.L), d_k_(b.d_k), rows_{rows, stride_} {}
  Scalar* operator[](Index i) { return const_cast<Scalar*>(rows_[i]); }
  Index stride() const { return rows_.stride; }
  void store() {
    if (rows_.data == m_) return;
    for (Index i = 0; i < count_; ++i) std::copy_n(rows_[i], d_k_, m_ + i * stride_);
  }

 private:
  Scalar* m_;
  Index stride_, count_, d_k_;
  Rows rows_;
};

// Scores of queries [0, rows) of a tile whose first is query `first`; `stride` numbers a row.
void tile_scores(Rows a, Rows b, const Block& block, bool causal, Index first, Index rows, Scalar scale,
                 Scalar* out, Index stride) {
  const auto seen = [&](Index i) { return block.visible(first + i, causal); };
  scores(Rows{a[first], a.stride}, b, rows, seen, padded(block.d_k), scale, out, stride);
}

// out[first + i] = Σ_j w[i, j] b[j], or += that, over the keys that are seen.
void tile_sums(const Scalar* w, Index stride, Rows b, const Block& block, bool causal, Index first,
               Index rows, WholeResults& out, bool add) {
  for (Index i = 0; i < rows; i += sum_rows) {
    const Index m = std::min<Index>(sum_rows, rows - i), last = first + i + m - 1;
    weighted_sums(Weights{w + i * stride, stride, 1}, b, block.visible(last, causal), m, padded(block.d_k),
                  out[first + i], out.stride(), add);
  }
}

// What the scores of a head learn: additive, its columns of v; bilinear, its rows of W, which are as wide as
// a head.
Block first_columns(Block b) {
  b.column = 0;
  return b;
}
Rows learned_rows(const AttentionOptions& options, const Block& b, Scratch& scratch) {
  if (!options.score) return {};
  const ConstView score = options.score->view();
  return options.scoring == Scoring::additive ? whole_rows(score, 0, 1, b, scratch)
                                              : whole_rows(score, b.column, b.d_k, first_columns(b), scratch);
}

// Adds rows, whole vectors wide, to those of a head.
void add_rows(const Scalar* rows, View to, Index begin, Index count, const Block& b) {
  const Index width = padded(b.d_k);
  for (Index i = 0; i < count; ++i, rows += width)
    to.row(begin + i).middleCols(b.column, b.d_k) += ConstView(rows, 1, b.d_k);
}

void check(Var q, Var k, Var v, std::span<const Span> query_spans, std::span<const Span> key_spans,
           const AttentionOptions& options, std::span<const std::int32_t> key_rows) {
  WASMFORMER_CHECK(k.rows() == v.rows(),
                   "[attention] keys " << shape(k) << " and values " << shape(v) << " differ in rows");
  WASMFORMER_CHECK(q.cols() == k.cols() && k.cols() == v.cols(),
                   "[attention] queries " << shape(q) << ", keys " << shape(k) << " and values " << shape(v)
                                          << " differ in columns");
  WASMFORMER_CHECK(
      options.heads > 0 && q.cols() % options.heads == 0,
      "[attention] " << q.cols() << " features do not divide into " << options.heads << " heads");
  const Index d = q.cols(), learned = options.scoring == Scoring::additive   ? 1
                                      : options.scoring == Scoring::bilinear ? d
                                                                             : 0;
  const Index rows = options.score ? options.score->value.rows() : 0;
  WASMFORMER_CHECK(
      rows == learned &&
          (!learned || options.score->value.size() == (learned == 1 ? d : d * d / options.heads)),
      "[attention] the score's parameter does not fit " << d << " features of " << options.heads << " heads");
  WASMFORMER_CHECK(query_spans.size() == key_spans.size(), "[attention] "
                                                               << query_spans.size() << " query spans and "
                                                               << key_spans.size() << " key spans");
  const Index keys = key_rows.empty() ? k.rows() : static_cast<Index>(key_rows.size());
  for (std::size_t i = 0; i < query_spans.size(); ++i) {
    const Span a = query_spans[i], b = key_spans[i];
    WASMFORMER_CHECK(a.begin >= 0 && a.end() <= q.rows() && b.begin >= 0 && b.end() <= keys &&
                         b.size >= (options.causal ? a.size : Index(a.size > 0)),
                     "[attention] sentence " << i << ": queries " << a.begin << " to " << a.end()
                                             << " and keys " << b.begin << " to " << b.end()
                                             << " do not fit");
    if (key_rows.empty()) continue;
    for (std::int32_t row :
         key_rows.subspan(static_cast<std::size_t>(b.begin), static_cast<std::size_t>(b.size)))
      WASMFORMER_CHECK(row >= 0 && row < k.rows(), "[attention] key row " << row << " is not below the "
                                                                          << k.rows() << " rows of the keys");
  }
}

}  // namespace

Var attention(Tape& tape, Var q, Var k, Var v, std::span<const Span> query_spans,
              std::span<const Span> key_spans, const AttentionOptions& options,
              std::vector<Matrix>* probabilities, std::span<const std::int32_t> key_rows) {
  check(q, k, v, query_spans, key_spans, options, key_rows);
  const Index d = q.cols(), heads = options.heads, d_k = d / heads, width = padded(d_k);
  const Scoring scoring = options.scoring;
  const Scalar scale = scoring == Scoring::scaled_dot ? 1 / std::sqrt(static_cast<Scalar>(d_k)) : 1;
  const bool causal = options.causal;
  Parameter* score = options.score;
  const Dropout drop(tape, options.dropout);
  Var y = tape.variable(
      q.rows(), d,
      q.wants_gradient() || k.wants_gradient() || v.wants_gradient() || (score && score->wants_gradient()));
  const bool recorded = y.wants_gradient();
  WASMFORMER_CHECK(key_rows.empty() || !recorded,
                   "[attention] keys that are chosen row by row cannot be recorded");
  const Blocks blocks{recorded ? tape.keep(query_spans) : query_spans,
                      recorded ? tape.keep(key_spans) : key_spans, heads, d_k};
  const Plan plan(blocks);
  const Index copies = width == d_k ? 0 : width, keys = padded(plan.most_keys);
  const Index tile = std::min(tile_rows, plan.most_queries) * keys;

  if (probabilities) {
    probabilities->clear();
    for (std::size_t i = 0; i < query_spans.size(); ++i)
      probabilities->push_back(Matrix::Zero(heads * query_spans[i].size, key_spans[i].size));
  }
  // Dropout counts the probabilities of all sentences; first[i]: of those before sentence i.
  Index* first = drop ? tape.scratch<Index>(static_cast<Index>(query_spans.size())) : nullptr;
  for (Index i = 0, n = 0; drop && i < blocks.size(); i += heads)
    first[i / heads] = n, n += heads * blocks[i].L * blocks[i].S;
  const auto element = [=](const Block& b, Index i) { return first[b.sentence] + (b.head * b.L + i) * b.S; };
  // Of row i and head h: at i · heads + h.
  Softmax* kept = recorded ? tape.scratch<Softmax>(q.rows() * heads) : nullptr;

  // Queries as they meet the keys.
  const auto projected = [=](Rows queries, Rows w, const Block& b, Scratch& scratch) {
    if (scoring != Scoring::bilinear) return queries;
    Scalar* out = scratch.take(b.L * width);
    weighted_sums(Weights{queries.data, queries.stride, 1}, w, d_k, b.L, width, out, width, /*add=*/false);
    return Rows{out, width};
  };
  const auto score_tile = [=](Rows qs, Rows ks, Rows ws, const Block& b, Index at, Index rows, Scalar* p) {
    if (scoring != Scoring::additive) return tile_scores(qs, ks, b, causal, at, rows, scale, p, keys);
    const auto seen = [&](Index i) { return b.visible(at + i, causal); };
    additive_scores(Rows{qs[at], qs.stride}, ks, ws.data, rows, seen, width, p, keys);
  };
  const Index learned_size = score ? (2 * plan.most_queries + plan.most_keys + 2 * d_k + 1) * width : 0;

  const Index size = tile + 2 * (plan.most_queries + plan.most_keys) * copies + learned_size;
  Scalar* memory = tape.scratch<Scalar>(plan.chunks * size);
  tape.pool().parallel_for(blocks.size(), plan.grain, [&](Index begin, Index end) {
    for (Index n = begin; n < end; ++n) {
      const Block b = blocks[n];
      Scratch scratch{memory + begin / plan.grain * size};
      Scalar* p = scratch.take(tile);
      const Rows ws = learned_rows(options, b, scratch),
                 qs = projected(whole_rows(q.value(), b.query, b.L, b, scratch), ws, b, scratch),
                 ks = whole_rows(k.value(), b.key, b.S, b, scratch,
                                 key_rows.empty() ? nullptr : key_rows.data()),
                 vs = whole_rows(v.value(), b.key, b.S, b, scratch,
                                 key_rows.empty() ? nullptr : key_rows.data());
      WholeResults ys(y.mutable_value(), b.query, b.L, b, scratch);
      for (Index at = 0; at < b.L; at += tile_rows) {
        const Index rows = std::min(tile_rows, b.L - at), columns = padded(b.visible(at + rows - 1, causal));
        score_tile(qs, ks, ws, b, at, rows, p);
        for (Index i = 0; i < rows; ++i) {
          const Index seen = b.visible(at + i, causal);
          Scalar* row = p + i * keys;
          const Softmax s = softmax(row, seen, columns);
          if (kept) kept[(b.query + at + i) * heads + b.head] = s;
          if (probabilities)
            std::copy_n(row, seen, (*probabilities)[b.sentence].row(b.head * b.L + at + i).data());
          if (drop) drop.apply(row, element(b, at + i), columns);  // zeros behind `seen`
        }
        tile_sums(p, keys, vs, b, causal, at, rows, ys, /*add=*/false);
      }
      ys.store();
    }
  });

  if (recorded) {
    tape.record(y, [=, &tape](ConstView dy) {
      // y = (p * mask) v with p = softmax(scores)
      View dq = tape.zeroed_gradient(q), dk = tape.zeroed_gradient(k), dv = tape.zeroed_gradient(v);
      const Index size = 2 * tile + (3 * plan.most_queries + 4 * plan.most_keys) * copies + learned_size;
      Scalar* memory = tape.scratch<Scalar>(plan.chunks * size);
      // Each chunk's gradient of what is learned.
      const Index numbers = score ? score->value.size() : 0;
      Scalar* sums = tape.scratch<Scalar>(plan.chunks * numbers);
      std::fill_n(sums, plan.chunks * numbers, Scalar(0));
      tape.pool().parallel_for(blocks.size(), plan.grain, [&](Index begin, Index end) {
        for (Index n = begin; n < end; ++n) {
          const Block b = blocks[n];
          Scratch scratch{memory + begin / plan.grain * size};
          Scalar *p = scratch.take(tile), *ds = scratch.take(tile);
          const Rows ws = learned_rows(options, b, scratch),
                     given = whole_rows(q.value(), b.query, b.L, b, scratch),
                     qs = projected(given, ws, b, scratch),
                     ks = whole_rows(k.value(), b.key, b.S, b, scratch),
                     vs = whole_rows(v.value(), b.key, b.S, b, scratch),
                     dys = whole_rows(dy, b.query, b.L, b, scratch);
          // Gradients of the projected queries, and of keys and v where scores are additive.
          const Index sums_size = score ? (b.L + b.S + 1) * width : 0;
          Scalar* head_sums = scratch.take(sums_size);
          std::fill_n(head_sums, sums_size, Scalar(0));
          const AdditiveGradients to{head_sums, head_sums + b.L * width, head_sums + (b.L + b.S) * width};
          for (Index at = 0; at < b.L; at += tile_rows) {
            const Index rows = std::min(tile_rows, b.L - at),
                        columns = padded(b.visible(at + rows - 1, causal));
            score_tile(qs, ks, ws, b, at, rows, p);
            tile_scores(dys, vs, b, causal, at, rows, 1, ds, keys);
            for (Index i = 0; i < rows; ++i) {
              const Index seen = b.visible(at + i, causal);
              softmax_again(p + i * keys, seen, columns, kept[(b.query + at + i) * heads + b.head]);
              if (drop) drop.apply(ds + i * keys, element(b, at + i), columns);
              softmax_backward(p + i * keys, ds + i * keys, seen, columns, scale);
              if (drop) drop.apply(p + i * keys, element(b, at + i), columns);
            }
            // One after the other: q, k and v may be one variable.
            const Index seen = b.visible(at + rows - 1, causal);
            const auto to_keys = [&](View gradient, const Scalar* w, Rows from) {
              Scratch copy = scratch;
              WholeResults out(gradient, b.key, b.S, b, copy);
              weighted_sums(Weights{w, 1, keys}, Rows{from[at], from.stride}, rows, seen, width, out[0],
                            out.stride(),
                            /*add=*/true);
              out.store();
            };
            to_keys(dv, p, dys);
            if (scoring == Scoring::additive) {
              const auto seen = [&](Index i) { return b.visible(at + i, causal); };
              additive_backward(Rows{qs[at], qs.stride}, ks, ws.data, rows, seen, width, ds, keys,
                                {to.da + at * width, to.db, to.dv});
              continue;
            }
            to_keys(dk, ds, qs);
            Scratch copy = scratch;
            WholeResults out = score ? WholeResults(to.da, b) : WholeResults(dq, b.query, b.L, b, copy);
            tile_sums(ds, keys, ks, b, causal, at, rows, out, /*add=*/true);
            out.store();
          }
          if (!score) continue;
          View dscore(sums + begin / plan.grain * numbers, score->value.rows(), score->value.cols());
          if (scoring == Scoring::additive) {
            add_rows(to.da, dq, b.query, b.L, b), add_rows(to.db, dk, b.key, b.S, b);
            add_rows(to.dv, dscore, 0, 1, b);
          } else {
            // qs = q W
            WholeResults dw(dscore, b.column, d_k, first_columns(b), scratch);
            weighted_sums(Weights{given.data, 1, given.stride}, Rows{to.da, width}, b.L, d_k, width, dw[0],
                          dw.stride(), /*add=*/true);
            dw.store();
            Scalar* through = const_cast<Scalar*>(qs.data);  // nobody needs it any more
            const auto all = [=](Index) { return d_k; };
            scores(Rows{to.da, width}, ws, b.L, all, width, 1, through, width);
            add_rows(through, dq, b.query, b.L, b);
          }
        }
      });
      for (Index i = 0; numbers > 0 && score->wants_gradient() && i < plan.chunks; ++i)
        score->gradient += ConstView(sums + i * numbers, score->value.rows(), score->value.cols());
    });
  }
  return y;
}

}  // namespace wasmformer
