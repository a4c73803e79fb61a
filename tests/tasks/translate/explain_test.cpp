// What a translation shows of the model's inside: numbers against one another, masks against other models.
#include "tasks/translate/explain.h"

#include <catch_amalgamated.hpp>
#include <cmath>
#include <map>

#include "ops/embedding.h"
#include "schema/error.h"
#include "tasks/translate/translator.h"
#include "tests/tasks/translate/letters_model.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

Translation explained(const ModelFile& model, const std::string& text, const TranslateOptions& options) {
  ThreadPool pool;
  return translate_in_batches(model, pool, {text}, options, 1000)[0];
}

using Floats = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
Floats matrix(const MatrixData& n) {
  REQUIRE(static_cast<Index>(n.data.size()) == n.rows * n.columns);
  return {n.data.data(), n.rows, n.columns};
}
Floats map_of(const AttentionMaps& m, Index layer, Index head) {
  return {m.data.data() + (layer * m.heads + head) * m.rows * m.columns, m.rows, m.columns};
}

template <class A, class B>
bool near(const A& a, const B& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && (a - b).cwiseAbs().maxCoeff() < 1e-5f;
}

ModelFile model_of(NormPosition norm, std::uint64_t seed) {
  Config c = letters_config();
  c.norm = norm;
  if (norm == NormPosition::none) c.causal = false, c.key_dim = 3;
  const auto tokenizer = letters_tokenizer();
  return {std::make_unique<Transformer>(random_model(c, seed)), tokenizer, tokenizer, {}};
}

// softmax(q kᵀ / √d_k) is the map, and its rows by v are the output. `causal`: rows end at their own key.
void check_attention(const AttentionInternals& a, const AttentionMaps& maps, Index layer, bool causal) {
  const Floats q = matrix(a.queries), k = matrix(a.keys), v = matrix(a.values), output = matrix(a.output);
  const Index d_k = q.cols() / maps.heads, d_v = v.cols() / maps.heads;
  for (Index head = 0; head < maps.heads; ++head) {
    Eigen::MatrixXf p(q.rows(), k.rows());
    for (Index i = 0; i < p.rows(); ++i) {
      for (Index j = 0; j < p.cols(); ++j)
        p(i, j) = causal && j > i ? 0
                                  : std::exp(q.row(i).segment(head * d_k, d_k).dot(k.row(j).segment(head * d_k, d_k)) /
                                             std::sqrt(static_cast<float>(d_k)));
      p.row(i) /= p.row(i).sum();
    }
    CHECK(near(p, map_of(maps, layer, head)));
    CHECK(near(p.lazyProduct(v.middleCols(head * d_v, d_v)), output.middleCols(head * d_v, d_v)));
  }
}

}  // namespace

TEST_CASE("Internals reproduce the attention maps, and streams lead from the embedding to the output") {
  const NormPosition norm = GENERATE(NormPosition::post, NormPosition::pre, NormPosition::none);
  const ModelFile model = model_of(norm, 1);
  const Config& c = model.transformer->config();
  // Beside others, so that rows of the right sentence and the best hypothesis must be taken.
  ThreadPool pool;
  const TranslateOptions options{.beam_size = 3, .n_best = 2, .max_length = 9, .attention = true, .internals = true};
  for (const Translation& t : translate_in_batches(model, pool, {"abcd", "h", "ba"}, options, 1000)) {
    REQUIRE(t.internals);
    const auto& [encoder, decoder] = *t.internals;
    const Index source = static_cast<Index>(t.source_tokens.size()), target = static_cast<Index>(t.tokens.size());
    REQUIRE(static_cast<Index>(encoder.layers.size()) == c.encoder_layers);
    REQUIRE(static_cast<Index>(decoder.layers.size()) == c.decoder_layers);
    for (std::size_t l = 0; l < encoder.layers.size(); ++l) {
      CHECK(!encoder.layers[l].cross_attention);
      check_attention(encoder.layers[l].self_attention, t.attention->encoder, static_cast<Index>(l),
                      /*causal=*/false);
    }
    for (std::size_t l = 0; l < decoder.layers.size(); ++l) {
      check_attention(decoder.layers[l].self_attention, t.attention->decoder, static_cast<Index>(l),
                      /*causal=*/true);
      check_attention(decoder.layers[l].cross_attention.value(), t.attention->cross, static_cast<Index>(l),
                      /*causal=*/false);
    }

    // Each part of a layer again, by the layer's weights alone.
    std::map<std::string, Matrix> weights;
    model.transformer->visit([&](const ParameterInfo& info, const Parameter& p) { weights[info.name] = p.value; });
    const auto linear = [&](const std::string& name, const Eigen::MatrixXf& x) -> Eigen::MatrixXf {
      return x.lazyProduct(weights.at(name + ".weight").cast<float>().transpose()).rowwise() +
             weights.at(name + ".bias").cast<float>().row(0);
    };
    const auto layer_norm = [&](const std::string& name, Eigen::MatrixXf x) -> Eigen::MatrixXf {
      for (Index i = 0; i < x.rows(); ++i) {
        const float mean = x.row(i).mean();
        x.row(i).array() -= mean;
        x.row(i) /=
            std::sqrt(x.row(i).squaredNorm() / static_cast<float>(x.cols()) + static_cast<float>(c.norm_epsilon));
        x.row(i).array() = x.row(i).array() * weights.at(name + ".weight").cast<float>().row(0).array() +
                           weights.at(name + ".bias").cast<float>().row(0).array();
      }
      return x;
    };
    const auto check_stack = [&](const StackInternals& stack, const std::string& side, Index rows,
                                 const std::vector<SourceToken>& read) {
      const std::string path = "model." + side;
      const Matrix& table = weights.at("model.shared.weight");
      const Matrix positions = sinusoidal_positions(rows, c.d_model);
      REQUIRE(stack.token_embedding.rows == rows);
      for (Index i = 0; i < rows; ++i)
        CHECK(near(matrix(stack.token_embedding).row(i), table.row(read[static_cast<std::size_t>(i)].id).cast<float>() *
                                                             std::sqrt(static_cast<float>(c.d_model))));
      CHECK(near(matrix(stack.positions), positions.cast<float>()));
      Eigen::MatrixXf x = matrix(stack.token_embedding) + matrix(stack.positions);
      const auto sublayer = [&](const MatrixData& added, const MatrixData& after, const std::string& norm_name,
                                const Eigen::MatrixXf& result) {
        CHECK(near(matrix(added), result));
        x += result;
        if (norm == NormPosition::post) x = layer_norm(norm_name, x);
        CHECK(near(matrix(after), x));
      };
      for (std::size_t l = 0; l < stack.layers.size(); ++l) {
        const LayerInternals& layer = stack.layers[l];
        const std::string at = path + ".layers." + std::to_string(l);
        const std::string self = at + ".self_attn", cross = at + ".encoder_attn";
        const auto read_by = [&](const std::string& norm_name) {
          return norm == NormPosition::pre ? layer_norm(norm_name, x) : x;
        };
        CHECK(near(matrix(layer.self_attention.queries), linear(self + ".q_proj", read_by(self + "_layer_norm"))));
        CHECK(near(matrix(layer.self_attention.keys), linear(self + ".k_proj", read_by(self + "_layer_norm"))));
        sublayer(layer.self_attention.projected, layer.after_self_attention, self + "_layer_norm",
                 linear(self + ".out_proj", matrix(layer.self_attention.output)));
        if (layer.cross_attention) {
          CHECK(
              near(matrix(layer.cross_attention->queries), linear(cross + ".q_proj", read_by(cross + "_layer_norm"))));
          CHECK(near(matrix(layer.cross_attention->values), linear(cross + ".v_proj", matrix(encoder.output))));
          sublayer(layer.cross_attention->projected, layer.after_cross_attention.value(), cross + "_layer_norm",
                   linear(cross + ".out_proj", matrix(layer.cross_attention->output)));
        }
        CHECK(layer.after_cross_attention.has_value() == layer.cross_attention.has_value());
        const Eigen::MatrixXf inner = linear(at + ".fc1", read_by(at + ".final_layer_norm")).cwiseMax(0.f);
        CHECK(near(matrix(layer.feed_forward.hidden), inner));
        sublayer(layer.feed_forward.output, layer.after_feed_forward, at + ".final_layer_norm",
                 linear(at + ".fc2", inner));
      }
      CHECK(near(matrix(stack.output), norm == NormPosition::pre ? layer_norm(path + ".layer_norm", x) : x));
    };
    std::vector<SourceToken> read{{"<s>", c.bos_id}};
    read.insert(read.end(), t.tokens.begin(), t.tokens.end() - 1);
    check_stack(encoder, "encoder", source, t.source_tokens);
    check_stack(decoder, "decoder", target, read);
  }
}

TEST_CASE("Internals are returned on request, but not for an empty text") {
  const ModelFile model = letters_model(2, 1);
  CHECK(!explained(model, "abc", {.attention = true}).internals);
  CHECK(explained(model, "abc", {.internals = true}).internals);
  CHECK(!explained(model, "abc", {.internals = true}).attention);
  CHECK(!explained(model, "", {.internals = true}).internals);
}

TEST_CASE("A masked source token gets no attention and acts as if absent") {
  ModelFile model = letters_model(3, 1);
  Config c = model.transformer->config();
  c.positions = Positions::learned;  // all the same, so that places say nothing
  model.transformer = std::make_unique<Transformer>(random_model(c, 3));
  model.transformer->visit([](const ParameterInfo& info, Parameter& p) {
    if (info.initializer == Initializer::positions) p.value.setZero();
  });
  TranslateOptions options{.beam_size = 3, .n_best = 2, .max_length = 9, .attention = true, .top_tokens = 2};
  const Translation expected = explained(model, "ac", options);
  options.masked_source = {2};  // ▁ a b c </s>
  const Translation found = explained(model, "abc", options);
  CHECK(found.text == expected.text);
  CHECK(found.score == Catch::Approx(expected.score).epsilon(1e-5));
  CHECK(found.alternatives.at(0).text == expected.alternatives.at(0).text);
  CHECK(found.source_tokens.size() == 5);
  // A masked token looks at the others, and its own row of the encoder's maps stays.
  CHECK(found.attention->encoder.rows == 5);
  const std::vector<Index> rest{0, 1, 3, 4};
  for (Index layer = 0; layer < found.attention->cross.layers; ++layer) {
    for (Index head = 0; head < found.attention->cross.heads; ++head) {
      const auto cross = map_of(found.attention->cross, layer, head);
      CHECK((cross.col(2).array() == 0).all());
      CHECK(near(cross(Eigen::placeholders::all, rest), map_of(expected.attention->cross, layer, head)));
      CHECK(near(map_of(found.attention->decoder, layer, head), map_of(expected.attention->decoder, layer, head)));
      if (layer >= found.attention->encoder.layers) continue;
      const auto encoder = map_of(found.attention->encoder, layer, head);
      CHECK((encoder.col(2).array() == 0).all());
      CHECK(near(encoder(rest, rest), map_of(expected.attention->encoder, layer, head)));
      CHECK(near(encoder.rowwise().sum(), Eigen::VectorXf::Ones(5)));
    }
  }
  for (std::size_t i = 0; i < found.tokens.size(); ++i)
    CHECK(found.tokens[i].top->at(1).id == expected.tokens[i].top->at(1).id);
  CHECK(explained(model, "abc", {.max_length = 9}).score != found.score);
}

TEST_CASE("A masked head keeps its map but adds nothing to the output or the search") {
  const ModelFile model = letters_model(4, 1);
  ModelFile without = letters_model(4, 1);
  const Index d_k = letters_config().d_model / letters_config().num_heads;
  without.transformer->visit([&](const ParameterInfo& info, Parameter& p) {
    if (info.name == "model.decoder.layers.1.encoder_attn.out_proj.weight") p.value.rightCols(d_k).setZero();
  });
  TranslateOptions options{.beam_size = 3, .attention = true, .internals = true};
  const Translation expected = explained(without, "abcd", options);
  options.masked_heads = {{AttentionHead::cross, 1, 1}};
  const Translation found = explained(model, "abcd", options);
  CHECK(found.text == expected.text);
  CHECK(found.score == Catch::Approx(expected.score).epsilon(1e-5));
  CHECK(near(map_of(found.attention->cross, 1, 1), map_of(expected.attention->cross, 1, 1)));
  const MatrixData& output = found.internals->decoder.layers[1].cross_attention->output;
  CHECK((matrix(output).rightCols(d_k).array() == 0).all());
  CHECK((matrix(output).leftCols(d_k).array() != 0).any());
  CHECK(explained(model, "abcd", {.beam_size = 3}).score != Catch::Approx(found.score).epsilon(1e-5));
}

TEST_CASE("Impossible masks are refused with a message") {
  const ModelFile model = letters_model(5);
  const auto refused = [&](const TranslateOptions& options, const std::string& a, const std::string& b) {
    CHECK_THROWS_WITH(explained(model, "abc", options), ContainsSubstring(a) && ContainsSubstring(b));
  };
  refused({.masked_source = {5}}, "source position 5", "5 tokens");
  refused({.masked_source = {-1}}, "masked_source[0]", "at least 0, not -1");
  refused({.masked_source = {0, 1, 2, 3, 4}}, "all 5 tokens", "one must stay");
  refused({.masked_heads = {{AttentionHead::encoder, 1, 0}}}, "layer 1", "1 layers of 2 heads");
  refused({.masked_heads = {{}, {AttentionHead::cross, 0, 2}}}, "[1] is layer 0, head 2", "2 layers of 2 heads");
  CHECK(explained(model, "", {.masked_source = {5}}).text.empty());
}
