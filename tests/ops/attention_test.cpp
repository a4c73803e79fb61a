#include "ops/attention.h"

#include <catch_amalgamated.hpp>
#include <cmath>

#include "ops/attention_reference.h"
#include "schema/error.h"
#include "tests/ops/attend.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Case {
  const char* name;
  std::vector<Index> queries, keys;
  Index heads, d;
  bool causal;
};

// attention_reference() of each sentence and head: probabilities as [heads · queries, keys], and results.
struct Plain {
  std::vector<Eigen::MatrixXd> probabilities;
  Eigen::MatrixXd y;
};

// The score of a query and a key of one head, whose features begin at `column`.
double plain_score(const Eigen::RowVectorXd& q, const Eigen::RowVectorXd& k, Index column, AttentionScore kind,
                   const Matrix& learned) {
  if (kind == AttentionScore::scaled_dot) return scaled_dot_product(q, k);
  double sum = 0;
  for (Index a = 0; a < q.size(); ++a) {
    if (kind == AttentionScore::dot) sum += q(a) * k(a);
    if (kind == AttentionScore::additive) sum += static_cast<double>(learned(0, column + a)) * std::tanh(q(a) + k(a));
    for (Index b = 0; kind == AttentionScore::bilinear && b < k.size(); ++b)
      sum += q(a) * static_cast<double>(learned(column + a, b)) * k(b);
  }
  return sum;
}

Plain plain(const Matrix& q, const Matrix& k, const Matrix& v, const Spans& query_spans, const Spans& key_spans,
            Index heads, bool causal, AttentionScore kind = AttentionScore::scaled_dot, const Matrix& learned = {}) {
  Plain result;
  result.y.setZero(q.rows(), v.cols());
  const Index d_k = q.cols() / heads, d_v = v.cols() / heads;
  for (std::size_t s = 0; s < query_spans.size(); ++s) {
    const Span queries = query_spans[s], keys = key_spans[s];
    auto& p = result.probabilities.emplace_back(heads * queries.size, keys.size);
    for (Index head = 0; head < heads; ++head) {
      const Index column = head * d_k;
      const auto block = [head, heads](const Matrix& m, Span rows) -> Eigen::MatrixXd {
        const Index width = m.cols() / heads;
        return m.block(rows.begin, head * width, rows.size, width).cast<double>();
      };
      const auto score = [&](const Eigen::RowVectorXd& query, const Eigen::RowVectorXd& key) {
        return plain_score(query, key, column, kind, learned);
      };
      const AttentionReference expected =
          attention_reference(block(q, queries), block(k, keys), block(v, keys), causal, score);
      p.middleRows(head * queries.size, queries.size) = expected.weights;
      result.y.block(queries.begin, head * d_v, queries.size, d_v) = expected.output;
    }
  }
  return result;
}

Var on(Tape& tape, const Matrix& m) {
  Var var = tape.variable(m.rows(), m.cols(), /*wants_gradient=*/true);
  var.mutable_value() = m;
  return var;
}

}  // namespace

TEST_CASE("Attention matches the formula, with every probability") {
  const Case c = GENERATE(Case{"one of each", {1}, {1}, 1, 1, false}, Case{"no query", {0, 2}, {3, 2}, 2, 4, false},
                          Case{"no sentence", {}, {}, 2, 4, true},
                          Case{"a sentence without tokens", {3, 0, 1}, {3, 0, 1}, 3, 9, true},
                          Case{"self, all see all", {5, 1, 3}, {5, 1, 3}, 2, 6, false},
                          Case{"self, causal", {5, 1, 3}, {5, 1, 3}, 2, 6, true},
                          Case{"a step of decoding", {1, 1, 1}, {4, 1, 7}, 4, 16, true},
                          Case{"some steps at once", {3, 2, 1}, {4, 5, 1}, 4, 16, true},
                          Case{"target to source", {2, 7}, {9, 3}, 1, 5, false},
                          Case{"wider than a register, more than a chunk",
                               {33, 2, 17, 1, 9, 5, 8, 3, 4},
                               {33, 2, 17, 1, 9, 5, 8, 3, 4},
                               4,
                               132,
                               true},
                          Case{"heads of whole registers", {33, 2, 17, 1}, {33, 2, 17, 1}, 2, 64, true},
                          Case{"heads of several registers, many keys", {1, 19, 4}, {70, 131, 4}, 3, 3 * 112, false},
                          Case{"one long sentence", {45}, {45}, 1, 16, true});
  const AttentionScore kind =
      GENERATE(AttentionScore::scaled_dot, AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  INFO(c.name << ", score " << static_cast<int>(kind));
  const Spans queries = spans_of(c.queries), keys = spans_of(c.keys);
  const Index n = queries.empty() ? 0 : queries.back().end(), m = keys.empty() ? 0 : keys.back().end();
  const Matrix q = random_matrix(n, c.d, 1) * 2, k = random_matrix(m, c.d, 2) * 2, v = random_matrix(m, c.d, 3);
  Parameter score = random_score(kind, c.d, c.heads, 4);
  if (kind == AttentionScore::bilinear) score.value *= Scalar(c.heads) / Scalar(c.d);  // or the scores are huge
  const Plain expected = plain(q, k, v, queries, keys, c.heads, c.causal, kind, score.value);

  Matrix one_thread;
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    Tape tape(pool, /*recording=*/true);
    std::vector<Matrix> probabilities;
    Var y = attend(tape, kind, score, on(tape, q), on(tape, k), on(tape, v), queries, keys,
                   {.heads = c.heads, .causal = c.causal, .probabilities = &probabilities});
    // Float's 1.2e-7 times the few operations that each number has passed.
    constexpr double limit = 2e-6;
    REQUIRE(shape(y) == shape(q));
    if (n > 0) CHECK((y.value().cast<double>() - expected.y).cwiseAbs().maxCoeff() < limit);
    REQUIRE(probabilities.size() == c.queries.size());
    for (std::size_t s = 0; s < probabilities.size(); ++s) {
      INFO("sentence " << s);
      REQUIRE(shape(probabilities[s]) == shape(expected.probabilities[s]));
      if (probabilities[s].size() == 0) continue;
      CHECK((probabilities[s].cast<double>() - expected.probabilities[s]).cwiseAbs().maxCoeff() < limit);
      CHECK(((expected.probabilities[s].array() == 0) == (probabilities[s].array() == 0)).all());
    }
    if (threads == 1) one_thread = y.value();
    CHECK((y.value().array() == one_thread.array()).all());
  }
}

TEST_CASE("Values may have more or fewer features than keys") {
  struct Widths {
    Index d_k, d_v;  // of a head
  };
  const auto [d_k, d_v] = GENERATE(Widths{1, 8}, Widths{3, 16}, Widths{16, 5}, Widths{40, 16}, Widths{32, 64});
  const AttentionScore kind =
      GENERATE(AttentionScore::scaled_dot, AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  CAPTURE(d_k, d_v, kind);
  constexpr Index heads = 3;
  const Spans queries = spans_of({20, 1, 3}), keys = spans_of({22, 1, 5});
  const Matrix q = random_matrix(24, heads * d_k, 1), k = random_matrix(28, heads * d_k, 2);
  const Matrix v = random_matrix(28, heads * d_v, 3);
  Parameter score = random_score(kind, heads * d_k, heads, 4);
  if (kind == AttentionScore::bilinear) score.value /= Scalar(d_k);
  ThreadPool pool(2);
  Tape tape(pool, /*recording=*/true);
  Var y =
      attend(tape, kind, score, on(tape, q), on(tape, k), on(tape, v), queries, keys, {.heads = heads, .causal = true});
  const Plain expected = plain(q, k, v, queries, keys, heads, /*causal=*/true, kind, score.value);
  REQUIRE(shape(y) == shape(expected.y));
  CHECK((y.value().cast<double>() - expected.y).cwiseAbs().maxCoeff() < 2e-6);
}

TEST_CASE("Several queries may read one sentence's keys, as the hypotheses of a beam do") {
  const Matrix q = random_matrix(3, 4, 1), k = random_matrix(5, 4, 2), v = random_matrix(5, 4, 3);
  const Spans queries = spans_of({1, 1, 1}), keys{{0, 3}, {0, 3}, {3, 2}};
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Var y = attention(tape, on(tape, q), on(tape, k), on(tape, v), queries, keys, {.heads = 2});
  const Plain expected = plain(q, k, v, queries, keys, 2, false);
  CHECK((y.value().cast<double>() - expected.y).cwiseAbs().maxCoeff() < 2e-6);
}

TEST_CASE("Keys may be chosen row by row, as the hypotheses of a beam choose theirs from one cache") {
  const Index d = GENERATE(10, 64);
  const Matrix q = random_matrix(4, d, 1), k = random_matrix(7, d, 2), v = random_matrix(7, d, 3);
  // Two hypotheses share rows 4 and 0; the third has two queries; a row may come twice.
  const std::vector<std::int32_t> rows{4, 0, 6, 4, 0, 1, 2, 5, 3, 2};
  const Spans queries = spans_of({1, 1, 2}), keys = spans_of({3, 2, 5});
  const bool causal = GENERATE(true, false);
  Matrix chosen_k(10, d), chosen_v(10, d);
  for (Index j = 0; j < 10; ++j) chosen_k.row(j) = k.row(rows[j]), chosen_v.row(j) = v.row(rows[j]);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const AttentionScore kind = GENERATE(AttentionScore::scaled_dot, AttentionScore::additive);
  Parameter score = random_score(kind, d, 2, 4);
  std::vector<Matrix> probabilities;
  Var y = attend(tape, kind, score, on(tape, q), on(tape, k), on(tape, v), queries, keys,
                 {.heads = 2, .causal = causal, .probabilities = &probabilities, .key_rows = rows});
  const Plain expected = plain(q, chosen_k, chosen_v, queries, keys, 2, causal, kind, score.value);
  CHECK((y.value().cast<double>() - expected.y).cwiseAbs().maxCoeff() < 2e-6);
  for (std::size_t s = 0; s < 3; ++s)
    CHECK((probabilities[s].cast<double>() - expected.probabilities[s]).cwiseAbs().maxCoeff() < 2e-6);
}

TEST_CASE("Attention refuses missing rows, and to record chosen rows") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false), recording(pool, /*recording=*/true);
  const auto attend = [&](Tape& t, const std::vector<std::int32_t>& rows, const Spans& keys) {
    attention(t, on(t, random_matrix(1, 4, 1)), on(t, random_matrix(5, 4, 2)), on(t, random_matrix(5, 4, 3)),
              spans_of({1}), keys, {.key_rows = rows});
  };
  CHECK_NOTHROW(attend(tape, {4, 0}, {{0, 2}}));
  CHECK_THROWS_WITH(attend(tape, {0, 5}, {{0, 2}}), ContainsSubstring("row 5") && ContainsSubstring("5 rows"));
  CHECK_THROWS_WITH(attend(tape, {-1}, {{0, 1}}), ContainsSubstring("row -1"));
  CHECK_THROWS_WITH(attend(tape, {0, 1}, {{1, 2}}), ContainsSubstring("1 to 3"));
  CHECK_THROWS_WITH(attend(recording, {4, 0}, {{0, 2}}), ContainsSubstring("recorded"));
}

TEST_CASE("Large scores do not overflow in attention") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Matrix q(1, 1), k(2, 1), v(2, 1);
  q << 1000;
  k << 1000, -1000;
  v << 3, 5;
  Var y = attention(tape, on(tape, q), on(tape, k), on(tape, v), spans_of({1}), spans_of({2}), {});
  CHECK(y.value()(0, 0) == 3);
}

TEST_CASE("Attention refuses arguments that do not fit and names both") {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const auto attend = [&](std::vector<Index> q, std::vector<Index> k, std::vector<Index> v, const Spans& queries,
                          const Spans& keys, AttentionOptions options) {
    attention(tape, on(tape, random_matrix(q[0], q[1], 1)), on(tape, random_matrix(k[0], k[1], 2)),
              on(tape, random_matrix(v[0], v[1], 3)), queries, keys, options);
  };
  const Spans two = spans_of({2}), three = spans_of({3});
  CHECK_THROWS_WITH(attend({2, 4}, {9, 4}, {8, 4}, two, three, {}),
                    ContainsSubstring("[9, 4]") && ContainsSubstring("[8, 4]"));
  CHECK_THROWS_WITH(attend({2, 6}, {3, 4}, {3, 4}, two, three, {}),
                    ContainsSubstring("[2, 6]") && ContainsSubstring("[3, 4]"));
  CHECK_THROWS_WITH(attend({2, 4}, {3, 4}, {3, 5}, two, three, {.heads = 2}),
                    ContainsSubstring("5 features") && ContainsSubstring("2 heads"));
  CHECK_THROWS_WITH(attend({2, 4}, {3, 4}, {3, 4}, two, three, {.heads = 3}),
                    ContainsSubstring("4 features") && ContainsSubstring("3 heads"));
  CHECK_THROWS_WITH(attend({2, 4}, {3, 4}, {3, 4}, two, spans_of({2, 1}), {}),
                    ContainsSubstring("1 query spans") && ContainsSubstring("2 key spans"));
  CHECK_THROWS_WITH(attend({2, 4}, {3, 4}, {3, 4}, three, three, {}), ContainsSubstring("0 to 3"));
  CHECK_THROWS_WITH(attend({2, 4}, {3, 4}, {3, 4}, two, {{1, 3}}, {}), ContainsSubstring("1 to 4"));
  CHECK_THROWS_WITH(attend({2, 4}, {3, 4}, {3, 4}, two, {{-1, 3}}, {}), ContainsSubstring("-1 to 2"));
  // A query that sees no key has no probabilities.
  CHECK_THROWS_AS(attend({2, 4}, {3, 4}, {3, 4}, two, {{0, 0}}, {}), Error);
  CHECK_THROWS_AS(attend({3, 4}, {3, 4}, {3, 4}, three, two, {.causal = true}), Error);
}
