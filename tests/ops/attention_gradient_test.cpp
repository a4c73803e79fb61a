#include "ops/attention.h"
#include "tests/ops/attend.h"
#include "tests/ops/central_differences.h"

using namespace wasmformer;

namespace {

void check_attention(const std::vector<Index>& queries, const std::vector<Index>& keys, Index d, AttentionScore kind,
                     const AttentionOptions& options) {
  Parameter score = random_score(kind, d, options.heads, 4);
  std::vector<Parameter*> parameters;
  if (score.rows > 0) parameters.push_back(&score);
  const Spans query_spans = spans_of(queries), key_spans = spans_of(keys);
  const Index n = query_spans.back().end(), m = key_spans.back().end();
  check_gradients({random_matrix(n, d, 1) * 2, random_matrix(m, d, 2) * 2, random_matrix(m, d, 3)}, parameters,
                  [&](Tape& tape, const std::vector<Var>& x) {
                    return attend(tape, kind, score, x[0], x[1], x[2], query_spans, key_spans, options);
                  });
}

}  // namespace

TEST_CASE("The gradients of attention match central differences") {
  const double dropout = GENERATE(0.0, 0.3);
  const AttentionScore kind =
      GENERATE(AttentionScore::scaled_dot, AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  CAPTURE(dropout, kind);
  SECTION("one query, one key, one feature") {
    check_attention({1}, {1}, 1, kind, {.heads = 1, .causal = false, .dropout = dropout});
  }
  SECTION("several sentences, one of them empty") {
    check_attention({3, 1, 0, 5}, {3, 1, 0, 5}, 12, kind, {.heads = 3, .causal = false, .dropout = dropout});
  }
  SECTION("queries see themselves and what precedes them") {
    check_attention({3, 1, 5}, {3, 1, 5}, 12, kind, {.heads = 3, .causal = true, .dropout = dropout});
  }
  SECTION("queries of a target, keys of a source") {
    check_attention({2, 7, 1}, {5, 1, 3}, 8, kind, {.heads = 2, .causal = false, .dropout = dropout});
  }
  SECTION("the last queries of longer sentences") {
    check_attention({2, 1, 3}, {5, 4, 3}, 8, kind, {.heads = 2, .causal = true, .dropout = dropout});
  }
  SECTION("more blocks than one thread takes, wider than a register") {
    const std::vector<Index> sizes{3, 4, 1, 2, 5, 3, 2, 4, 6, 1, 7, 2};
    check_attention(sizes, sizes, 76, kind, {.heads = 4, .causal = true, .dropout = dropout});
  }
  SECTION("more queries than a tile has, heads of whole registers") {
    check_attention({21, 2}, {21, 2}, 32, kind, {.heads = 2, .causal = true, .dropout = dropout});
  }
  SECTION("more queries than a tile has, heads of less than a register") {
    check_attention({35}, {19}, 6, kind, {.heads = 2, .causal = false, .dropout = dropout});
  }
}

TEST_CASE("The gradients of attention whose values are wider or narrower than keys match central differences") {
  struct Widths {
    Index d_k, d_v;  // of a head
  };
  const auto [d_k, d_v] = GENERATE(Widths{1, 4}, Widths{3, 8}, Widths{8, 5}, Widths{16, 8});
  const bool causal = GENERATE(true, false);
  const AttentionScore kind =
      GENERATE(AttentionScore::scaled_dot, AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  CAPTURE(d_k, d_v, causal, kind);
  constexpr Index heads = 2;
  Parameter score = random_score(kind, heads * d_k, heads, 4);
  std::vector<Parameter*> parameters;
  if (score.rows > 0) parameters.push_back(&score);
  const Spans queries = spans_of({18, 2}), keys = spans_of({19, 2});
  check_gradients(
      {random_matrix(20, heads * d_k, 1), random_matrix(21, heads * d_k, 2), random_matrix(21, heads * d_v, 3)},
      parameters,
      [&](Tape& tape, const std::vector<Var>& x) {
        return attend(tape, kind, score, x[0], x[1], x[2], queries, keys, {.heads = heads, .causal = causal});
      },
      /*places=*/20);
}

TEST_CASE("Attention of a matrix to itself sums the gradients of queries, keys and values") {
  const Spans sentence = spans_of({4, 2});
  const bool causal = GENERATE(true, false);
  const AttentionScore kind =
      GENERATE(AttentionScore::scaled_dot, AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  const Index d = GENERATE(6, 32);  // heads of less than a register, and of whole ones
  CAPTURE(kind, d);
  Parameter score = random_score(kind, d, 2, 4);
  check_gradients({random_matrix(6, d, 1)}, {}, [&](Tape& tape, const std::vector<Var>& x) {
    return attend(tape, kind, score, x[0], x[0], x[0], sentence, sentence, {.heads = 2, .causal = causal});
  });
}
