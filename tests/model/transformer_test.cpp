#include "model/transformer.h"

#include <catch_amalgamated.hpp>
#include <thread>

#include "schema/error.h"
#include "tests/model/small_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

// The same sums in another order differ by a few of float's 1.2e-7, times the size of activations.
constexpr Scalar limit = 1e-5f;

std::vector<std::string> names(const Config& config) {
  std::vector<std::string> all;
  Transformer(config).visit([&](const ParameterInfo& info, const Parameter&) { all.push_back(info.name); });
  return all;
}

bool near(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).cwiseAbs().maxCoeff() < limit;
}

const std::vector<std::vector<TokenId>> sources{{4, 5, 6, 7, 8, 3}, {3}, {6, 6, 3}};
const std::vector<std::vector<TokenId>> targets{{2, 7}, {2, 8, 4, 5, 7}, {2, 4, 4}};

}  // namespace

TEST_CASE("Parameters are named as in Hugging Face's Marian") {
  Config c = small_config();
  c.decoder_layers = 1;
  CHECK(names(c) == std::vector<std::string>{
                        "model.shared.weight",
                        "model.encoder.layers.0.self_attn.q_proj.weight",
                        "model.encoder.layers.0.self_attn.q_proj.bias",
                        "model.encoder.layers.0.self_attn.k_proj.weight",
                        "model.encoder.layers.0.self_attn.k_proj.bias",
                        "model.encoder.layers.0.self_attn.v_proj.weight",
                        "model.encoder.layers.0.self_attn.v_proj.bias",
                        "model.encoder.layers.0.self_attn.out_proj.weight",
                        "model.encoder.layers.0.self_attn.out_proj.bias",
                        "model.encoder.layers.0.self_attn_layer_norm.weight",
                        "model.encoder.layers.0.self_attn_layer_norm.bias",
                        "model.encoder.layers.0.fc1.weight",
                        "model.encoder.layers.0.fc1.bias",
                        "model.encoder.layers.0.fc2.weight",
                        "model.encoder.layers.0.fc2.bias",
                        "model.encoder.layers.0.final_layer_norm.weight",
                        "model.encoder.layers.0.final_layer_norm.bias",
                        "model.decoder.layers.0.self_attn.q_proj.weight",
                        "model.decoder.layers.0.self_attn.q_proj.bias",
                        "model.decoder.layers.0.self_attn.k_proj.weight",
                        "model.decoder.layers.0.self_attn.k_proj.bias",
                        "model.decoder.layers.0.self_attn.v_proj.weight",
                        "model.decoder.layers.0.self_attn.v_proj.bias",
                        "model.decoder.layers.0.self_attn.out_proj.weight",
                        "model.decoder.layers.0.self_attn.out_proj.bias",
                        "model.decoder.layers.0.self_attn_layer_norm.weight",
                        "model.decoder.layers.0.self_attn_layer_norm.bias",
                        "model.decoder.layers.0.encoder_attn.q_proj.weight",
                        "model.decoder.layers.0.encoder_attn.q_proj.bias",
                        "model.decoder.layers.0.encoder_attn.k_proj.weight",
                        "model.decoder.layers.0.encoder_attn.k_proj.bias",
                        "model.decoder.layers.0.encoder_attn.v_proj.weight",
                        "model.decoder.layers.0.encoder_attn.v_proj.bias",
                        "model.decoder.layers.0.encoder_attn.out_proj.weight",
                        "model.decoder.layers.0.encoder_attn.out_proj.bias",
                        "model.decoder.layers.0.encoder_attn_layer_norm.weight",
                        "model.decoder.layers.0.encoder_attn_layer_norm.bias",
                        "model.decoder.layers.0.fc1.weight",
                        "model.decoder.layers.0.fc1.bias",
                        "model.decoder.layers.0.fc2.weight",
                        "model.decoder.layers.0.fc2.bias",
                        "model.decoder.layers.0.final_layer_norm.weight",
                        "model.decoder.layers.0.final_layer_norm.bias",
                        "final_logits_bias",
                    });

  c.tie_embeddings = TieEmbeddings::none;
  c.positions = Positions::learned;
  c.norm = NormPosition::pre;
  c.output_bias = false;
  const auto all = names(c);
  for (const char* name : {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
                           "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight",
                           "model.encoder.layer_norm.weight", "model.decoder.layer_norm.bias", "lm_head.weight"})
    CHECK(std::count(all.begin(), all.end(), name) == 1);
  for (const char* name : {"model.shared.weight", "final_logits_bias"})
    CHECK(std::count(all.begin(), all.end(), name) == 0);
}

TEST_CASE("Learned attention scores have a parameter in every attention") {
  Config c = small_config();
  const auto shapes = [&c] {
    std::vector<std::string> found;
    Transformer(c).visit([&](const ParameterInfo& info, const Parameter& p) {
      if (info.name.find(".score_") != std::string::npos)
        found.push_back(info.name + " " + std::to_string(p.rows) + " " + std::to_string(p.cols));
    });
    return found;
  };
  c.attention = GENERATE(AttentionScore::scaled_dot, AttentionScore::dot);
  CHECK(shapes().empty());
  c.attention = AttentionScore::additive;
  CHECK(shapes() == std::vector<std::string>{"model.encoder.layers.0.self_attn.score_v 1 8",
                                             "model.decoder.layers.0.self_attn.score_v 1 8",
                                             "model.decoder.layers.0.encoder_attn.score_v 1 8",
                                             "model.decoder.layers.1.self_attn.score_v 1 8",
                                             "model.decoder.layers.1.encoder_attn.score_v 1 8"});
  c.attention = AttentionScore::bilinear;
  CHECK(shapes().size() == 5);
  CHECK(shapes()[0] == "model.encoder.layers.0.self_attn.score_proj.weight 8 4");
}

TEST_CASE("The number of parameters matches the architecture") {
  Config c = preset("base").config;
  c.source_vocab_size = c.target_vocab_size = 37000;
  // Attention 4 (512² + 512), feed-forward 2 · 512 · 2048 + 2048 + 512, norms 2 · 512 each.
  constexpr Index attention = 1050624, ffn = 2099712, norm = 1024;
  constexpr Index layers = 6 * (attention + ffn + 2 * norm) + 6 * (2 * attention + ffn + 3 * norm);
  CHECK(Transformer(c).parameter_count() == 37000 * 512 + layers + 37000);
}

TEST_CASE("Initial weights follow their rules and their seed") {
  Config c = small_config();
  c.source_vocab_size = c.target_vocab_size = 500;
  c.d_model = 32;
  c.attention = AttentionScore::bilinear;
  Transformer model(c), same(c), other(c);
  model.initialize(1);
  same.initialize(1);
  other.initialize(2);
  std::vector<Matrix> again, others;
  same.visit([&](const ParameterInfo&, const Parameter& p) { again.push_back(p.value); });
  other.visit([&](const ParameterInfo&, const Parameter& p) { others.push_back(p.value); });
  std::size_t i = 0;
  model.visit([&](const ParameterInfo& info, const Parameter& p) {
    INFO(info.name);
    const double mean = static_cast<double>(p.value.mean());
    const double deviation =
        std::sqrt(static_cast<double>(p.value.squaredNorm()) / static_cast<double>(p.value.size()));
    CHECK(p.value == again[i]);
    if (info.initializer == Initializer::zeros) CHECK((p.value.array() == 0).all());
    if (info.initializer == Initializer::ones) CHECK((p.value.array() == 1).all());
    if (info.initializer == Initializer::xavier || info.initializer == Initializer::scores) {
      const double bound = std::sqrt(6.0 / static_cast<double>(p.value.rows() + p.value.cols()));
      const double most = static_cast<double>(p.value.cwiseAbs().maxCoeff());
      CHECK(most <= bound);
      CHECK(most > 0.95 * bound);
      CHECK(deviation == Catch::Approx(bound / std::sqrt(3.0)).epsilon(0.1));
    }
    if (info.initializer == Initializer::embedding) {
      CHECK(deviation == Catch::Approx(1 / std::sqrt(32.0)).epsilon(0.03));
      CHECK(std::abs(mean) < 0.01);
    }
    if (info.initializer == Initializer::xavier || info.initializer == Initializer::embedding)
      CHECK(p.value != others[i]);
    ++i;
  });
}

TEST_CASE("A packed batch gives the same results as its sentences one at a time") {
  Config c = small_config();
  c.decoder_self = GENERATE(DecoderSelf::attention, DecoderSelf::ssru);
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  c.positions = GENERATE(Positions::sinusoidal, Positions::rotary);
  Transformer model = random_model(c, 5);
  ThreadPool pool(2);
  Tape batch(pool, /*recording=*/false), single(pool, /*recording=*/false);
  const Packed source = packed(sources), target = packed(targets);
  StackRecord encoder, decoder;
  Var memory = model.encode(batch, source.ids, source.spans, {}, &encoder);
  Var hidden = model.decode(batch, target.ids, target.spans, memory, source.spans, nullptr, {}, &decoder);
  Var logits = model.logits(batch, hidden);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    INFO("sentence " << i);
    single.clear();
    const Packed one_source = packed({sources[i]}), one_target = packed({targets[i]});
    StackRecord one_encoder, one_decoder;
    Var one_memory = model.encode(single, one_source.ids, one_source.spans, {}, &one_encoder);
    Var one_hidden =
        model.decode(single, one_target.ids, one_target.spans, one_memory, one_source.spans, nullptr, {}, &one_decoder);
    const Span s = source.spans[i], t = target.spans[i];
    CHECK(near(one_memory.value(), memory.value().middleRows(s.begin, s.size)));
    CHECK(near(model.logits(single, one_hidden).value(), logits.value().middleRows(t.begin, t.size)));
    const auto same = [i](const std::vector<AttentionRecord>& one, const std::vector<AttentionRecord>& all) {
      REQUIRE(one.size() == all.size());
      for (std::size_t layer = 0; layer < one.size(); ++layer)
        CHECK(near(one[layer].probabilities[0], all[layer].probabilities[i]));
    };
    same(one_encoder.self_attention, encoder.self_attention);
    same(one_decoder.self_attention, decoder.self_attention);
    same(one_decoder.cross_attention, decoder.cross_attention);
  }
}

TEST_CASE("Cached steps match the whole sequence") {
  Config c = small_config();
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  c.positions = c.norm == NormPosition::post ? Positions::sinusoidal : Positions::learned;
  c.attention =
      GENERATE(AttentionScore::scaled_dot, AttentionScore::dot, AttentionScore::additive, AttentionScore::bilinear);
  if (c.attention == AttentionScore::dot) c.positions = Positions::rotary;
  c.decoder_self = GENERATE(DecoderSelf::attention, DecoderSelf::ssru);
  const Index at_once = GENERATE(1, 2, 5);  // tokens a step
  CAPTURE(at_once);
  Transformer model = random_model(c, 6);
  ThreadPool pool;
  Tape whole(pool, /*recording=*/false), steps(pool, /*recording=*/false);
  const std::vector<TokenId> first{2, 7, 8, 4, 5, 5}, second{2, 4, 4, 8, 6, 7};
  const Packed source = packed({{4, 5, 3}, {6, 7, 8, 6, 3}}), target = packed({first, second});
  StackRecord all;
  Var memory = model.encode(whole, source.ids, source.spans);
  Var hidden = model.decode(whole, target.ids, target.spans, memory, source.spans, nullptr, {}, &all);
  Var expected = model.logits(whole, hidden);

  Cache cache(c, 2, 8);
  const Matrix memory_value = memory.value();
  for (Index at = 0; at < 6; at += at_once) {
    INFO("from token " << at);
    const Index n = std::min(at_once, 6 - at);
    const Packed part =
        packed({{first.begin() + at, first.begin() + at + n}, {second.begin() + at, second.begin() + at + n}});
    steps.clear();
    StackRecord record;
    // Only the first step reads the encoder's output.
    Var read = at == 0 ? steps.constant(memory_value) : Var();
    Var found = model.logits(steps, model.decode(steps, part.ids, part.spans, read, source.spans, &cache, {}, &record));
    for (Index slot = 0; slot < 2; ++slot) {
      CHECK(near(found.value().middleRows(slot * n, n), expected.value().middleRows(slot * 6 + at, n)));
      REQUIRE(record.self_attention.size() == all.self_attention.size());
      for (std::size_t layer = 0; layer < record.self_attention.size(); ++layer) {
        const auto of_slot = [slot](const AttentionRecord& attention) -> const Matrix& {
          return attention.probabilities[static_cast<std::size_t>(slot)];
        };
        const Matrix& keys = of_slot(record.self_attention[layer]);
        REQUIRE(keys.cols() == at + n);
        for (Index head = 0; head < c.num_heads; ++head)
          CHECK(near(keys.middleRows(head * n, n),
                     of_slot(all.self_attention[layer]).block(head * 6 + at, 0, n, at + n)));
      }
    }
    CHECK(cache.lengths == std::vector<Index>{at + n, at + n});
  }
}

TEST_CASE("Slots of a cache may have different lengths") {
  const Config c = small_config();
  Transformer model = random_model(c, 7);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const Packed source = packed({{4, 5, 3}, {6, 3}});
  Cache cache(c, 2, 8);
  Var memory = model.encode(tape, source.ids, source.spans);
  const Packed start = packed({{2, 7, 8}, {2}}), next = packed({{4}, {5, 6}});
  model.decode(tape, start.ids, start.spans, memory, source.spans, &cache);
  Var found = model.decode(tape, next.ids, next.spans, memory, source.spans, &cache);
  const Packed whole = packed({{2, 7, 8, 4}, {2, 5, 6}});
  Var expected = model.decode(tape, whole.ids, whole.spans, memory, source.spans);
  CHECK(near(
      found.value(),
      (Matrix(3, c.d_model) << expected.value().row(3), expected.value().row(5), expected.value().row(6)).finished()));
}

TEST_CASE("A model refuses invalid tokens, spans and lengths") {
  const Config c = small_config();
  Transformer model = random_model(c, 8);
  ThreadPool pool;
  Tape tape(pool, /*recording=*/false);
  const std::vector<TokenId> ids{4, 5, 3};
  const auto encode = [&](const std::vector<TokenId>& tokens, const Spans& spans) {
    model.encode(tape, tokens, spans);
  };
  CHECK_THROWS_WITH(encode({4, 9, 3}, {{0, 3}}), ContainsSubstring("token 9"));
  CHECK_THROWS_WITH(encode(ids, {{0, 2}}), ContainsSubstring("2 of 3"));
  CHECK_THROWS_WITH(encode(ids, {{0, 1}, {2, 1}}), ContainsSubstring("gaps"));
  CHECK_THROWS_WITH(encode(std::vector<TokenId>(13, 4), {{0, 13}}), ContainsSubstring("place 12"));

  Var memory = model.encode(tape, ids, Spans{{0, 3}});
  Cache cache(c, 1, 2);
  CHECK_THROWS_WITH(model.decode(tape, ids, Spans{{0, 3}}, memory, Spans{{0, 3}}, &cache),
                    ContainsSubstring("3 tokens") && ContainsSubstring("2"));
  CHECK_THROWS_WITH(model.decode(tape, ids, Spans{{0, 1}, {1, 2}}, memory, Spans{{0, 3}, {0, 3}}, &cache),
                    ContainsSubstring("2 spans") && ContainsSubstring("1 cache slots"));
}

// Native only: the WebAssembly tests are built without threads.
TEST_CASE("Threads that share a const model compute what one thread alone computes", "[native]") {
  Config c = small_config();
  c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  c.decoder_self = GENERATE(DecoderSelf::attention, DecoderSelf::ssru);
  c.positions = GENERATE(Positions::sinusoidal, Positions::rotary);
  const Transformer model = random_model(c, 5);
  const Packed source = packed(sources), target = packed(targets);
  const auto decoded = [&] {
    ThreadPool pool;
    Tape tape(pool, /*recording=*/false);
    const Var memory = model.encode(tape, source.ids, source.spans);
    const Var hidden = model.decode(tape, target.ids, target.spans, memory, source.spans);
    return Matrix(model.logits(tape, hidden).value());
  };
  const Matrix expected = decoded();
  std::vector<Matrix> found(4);
  std::vector<std::thread> threads;
  for (Matrix& result : found) threads.emplace_back([&result, &decoded] { result = decoded(); });
  for (std::thread& thread : threads) thread.join();
  for (const Matrix& result : found) CHECK(result == expected);
}
