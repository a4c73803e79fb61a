#include "model/masks.h"

#include <catch_amalgamated.hpp>

#include "model/transformer.h"
#include "schema/error.h"
#include "tests/model/small_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;
using Ids = std::vector<TokenId>;
using Masked = std::vector<std::vector<Index>>;

namespace {

// The same sums in another order differ by a few of float's 1.2e-7, times the size of activations.
constexpr Scalar tolerance = 1e-5f;

bool is_near(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).cwiseAbs().maxCoeff() < tolerance;
}

Matrix logits(const Transformer& model, const Packed& source, const Packed& target, const Masks& masks) {
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Var memory = model.encode(tape, source.ids, source.spans, masks);
  return model.logits(tape, model.decode(tape, target.ids, target.spans, memory, masks.source_spans, nullptr, masks))
      .value();
}

Masks masked(const Transformer& model, const Packed& source, const Masked& positions) {
  return Masks(model.config(), {}, source.spans, positions);
}

const Packed source = packed({{4, 5, 6, 7, 8, 3}, {7, 3}, {6, 6, 3}}),
             target = packed({{2, 7}, {2, 8, 4, 5, 7}, {2, 4, 4}});

}  // namespace

TEST_CASE("Masking a head acts like zeroing its columns of the output projection") {
  Config c = small_config();
  c.encoder_layers = 2;
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  const auto kind = GENERATE(AttentionHead::encoder, AttentionHead::decoder, AttentionHead::cross);
  const Index layer = GENERATE(0, 1), head = GENERATE(0, 1), d_k = c.d_model / c.num_heads;
  CAPTURE(kind, layer, head);
  Transformer model = random_model(c, 1), without = random_model(c, 1);
  const std::string name = std::string("model.") + (kind == AttentionHead::encoder ? "encoder" : "decoder") +
                           ".layers." + std::to_string(layer) +
                           (kind == AttentionHead::cross ? ".encoder_attn" : ".self_attn") + ".out_proj.weight";
  Index found = 0;
  without.visit([&](const ParameterInfo& info, Parameter& p) {
    if (info.name != name) return;
    p.value.middleCols(head * d_k, d_k).setZero();
    ++found;
  });
  REQUIRE(found == 1);
  const Masked none(3);
  const Masks all(c, {}, source.spans, none), one(c, {{kind, layer, head}}, source.spans, none);
  CHECK(is_near(logits(model, source, target, one), logits(without, source, target, all)));
  CHECK(!is_near(logits(model, source, target, one), logits(model, source, target, all)));
}

TEST_CASE("Heads of one or several layers can be masked together, in any order") {
  Config c = small_config();
  Transformer model = random_model(c, 2);
  const Masked none(3);
  const auto with = [&](const std::vector<AttentionHead>& heads) {
    return logits(model, source, target, Masks(c, heads, source.spans, none));
  };
  const AttentionHead a{AttentionHead::cross, 1, 0}, b{AttentionHead::encoder, 0, 1}, d{AttentionHead::cross, 1, 1};
  CHECK(with({a, b, d}) == with({d, a, b}));
  CHECK(with({a, a, b, d}) == with({b, d, a}));
  CHECK(!is_near(with({a, b, d}), with({a, b})));
  CHECK(!is_near(with({a, b, d}), with({a, d})));
}

TEST_CASE("Without positions, a masked token acts as if absent") {
  Config c = small_config();
  c.positions = Positions::learned;
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  Transformer model = random_model(c, 3);
  model.visit([](const ParameterInfo& info, Parameter& p) {
    if (info.initializer == Initializer::positions) p.value.setZero();
  });
  // The end token may be masked like any other.
  const Packed shorter = packed({{4, 6, 8}, {7, 3}, {6, 3}});
  const Matrix found = logits(model, source, target, masked(model, source, {{1, 3, 5}, {}, {0, 0}}));
  CHECK(is_near(found, logits(model, shorter, target, masked(model, shorter, Masked(3)))));
  CHECK(!is_near(found, logits(model, source, target, masked(model, source, Masked(3)))));
}

TEST_CASE("A masked token changes only its own row") {
  Transformer model = random_model(small_config(), 4);
  const Packed other = packed({{4, 5, 7, 7, 8, 3}, {7, 3}, {6, 6, 3}});
  const Masked third{{2}, {}, {}};
  CHECK(logits(model, source, target, masked(model, source, third)) ==
        logits(model, other, target, masked(model, other, third)));
  CHECK(!is_near(logits(model, source, target, masked(model, source, Masked(3))),
                 logits(model, other, target, masked(model, other, Masked(3)))));
}

TEST_CASE("Masked attention equals the formula over the visible keys") {
  Config c = small_config();
  Transformer model = random_model(c, 5);
  const Masked positions{{0, 4}, {1}, {}};
  const Masks masks(c, {{AttentionHead::cross, 0, 1}}, source.spans, positions);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  StackRecord encoder, decoder;
  Var memory = model.encode(tape, source.ids, source.spans, masks, &encoder);
  model.decode(tape, target.ids, target.spans, memory, masks.source_spans, nullptr, masks, &decoder);

  const auto compare = [&](const AttentionRecord& r, const Spans& queries, Index masked_head) {
    const Index d_k = c.d_model / c.num_heads;
    for (std::size_t s = 0; s < queries.size(); ++s) {
      std::vector<Index> rows;
      for (Index j = 0; j < source.spans[s].size; ++j)
        if (std::find(positions[s].begin(), positions[s].end(), j) == positions[s].end())
          rows.push_back(source.spans[s].begin + j);
      const Matrix& p = r.probabilities.at(s);
      REQUIRE(p.cols() == static_cast<Index>(rows.size()));
      for (Index head = 0; head < c.num_heads; ++head) {
        for (Index i = 0; i < queries[s].size; ++i) {
          const auto q = r.queries.value().row(queries[s].begin + i).segment(head * d_k, d_k);
          RowVector e(p.cols()), sum = RowVector::Zero(d_k);
          for (std::size_t j = 0; j < rows.size(); ++j)
            e(static_cast<Index>(j)) = std::exp(q.dot(r.keys.value().row(rows[j]).segment(head * d_k, d_k)) /
                                                std::sqrt(static_cast<Scalar>(d_k)));
          e /= e.sum();
          for (std::size_t j = 0; j < rows.size(); ++j)
            sum += e(static_cast<Index>(j)) * r.values.value().row(rows[j]).segment(head * d_k, d_k);
          if (head == masked_head) sum.setZero();
          CHECK(is_near(p.row(head * queries[s].size + i), e));
          CHECK(is_near(r.output.value().row(queries[s].begin + i).segment(head * d_k, d_k), sum));
        }
      }
    }
  };
  compare(encoder.self_attention.at(0), source.spans, /*masked_head=*/-1);
  compare(decoder.cross_attention.at(0), target.spans, /*masked_head=*/1);
  compare(decoder.cross_attention.at(1), target.spans, /*masked_head=*/-1);
}

TEST_CASE("With masks, cached steps match the whole sequence") {
  Config c = small_config();
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  Transformer model = random_model(c, 6);
  const Packed some = packed({{4, 5, 3}, {6, 7, 8, 6, 3}});
  const Ids first{2, 7, 8, 4}, second{2, 4, 4, 8};
  const Masks masks(c, {{AttentionHead::decoder, 1, 0}, {AttentionHead::cross, 0, 1}}, some.spans, Masked{{1}, {0, 3}});
  const Matrix expected = logits(model, some, packed({first, second}), masks);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  Cache cache(c, 2, 4);
  for (std::size_t at = 0; at < first.size(); ++at) {
    const Packed part = packed({{first[at]}, {second[at]}});
    tape.clear();
    Var memory = at == 0 ? model.encode(tape, some.ids, some.spans, masks) : Var();
    Var found = model.logits(tape, model.decode(tape, part.ids, part.spans, memory, masks.source_spans, &cache, masks));
    for (Index slot = 0; slot < 2; ++slot)
      CHECK(is_near(found.value().row(slot), expected.row(slot * 4 + static_cast<Index>(at))));
  }
}

TEST_CASE("Impossible masks, and masks in training, are refused") {
  const Config c = small_config();
  const auto heads = [&](const AttentionHead& head) { Masks(c, {head}, source.spans, Masked(3)); };
  const auto positions = [&](const Masked& wanted) { Masks(c, {}, source.spans, wanted); };
  heads({AttentionHead::decoder, 1, 1});
  CHECK_THROWS_WITH(heads({AttentionHead::encoder, 1, 0}),
                    ContainsSubstring("layer 1, head 0") && ContainsSubstring("1 layers of 2 heads"));
  CHECK_THROWS_WITH(heads({AttentionHead::cross, 0, 2}), ContainsSubstring("layer 0, head 2"));
  CHECK_THROWS_WITH(heads({AttentionHead::cross, -1, 0}), ContainsSubstring("layer -1"));
  CHECK_THROWS_WITH(positions({{}, {2}, {}}), ContainsSubstring("position 2") && ContainsSubstring("2 tokens"));
  CHECK_THROWS_WITH(positions({{-1}, {}, {}}), ContainsSubstring("position -1"));
  CHECK_THROWS_WITH(positions({{}, {1, 0}, {}}), ContainsSubstring("all 2 tokens"));

  Transformer model = random_model(c, 7);
  model.enable_gradients();
  ThreadPool pool;
  Tape tape(pool, /*recording=*/true);
  const Masked none(3), some{{1}, {}, {}};
  CHECK_THROWS_WITH(
      model.encode(tape, source.ids, source.spans, Masks(c, {{AttentionHead::encoder, 0, 0}}, source.spans, none)),
      ContainsSubstring("masked heads cannot be recorded"));
  CHECK_THROWS_WITH(model.encode(tape, source.ids, source.spans, Masks(c, {}, source.spans, some)),
                    ContainsSubstring("cannot be recorded"));
}
