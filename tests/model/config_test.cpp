#include "model/config.h"

#include <catch_amalgamated.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "schema/error.h"

using namespace wasmformer;
using Catch::Matchers::WithinRel;
using Catch::Matchers::WithinULP;

namespace {

Config valid() {
  Config config;
  config.source_vocab_size = config.target_vocab_size = 100;
  return config;
}

}  // namespace

TEST_CASE("Every preset is valid once it has a vocabulary") {
  const std::string name =
      GENERATE("toy", "tiny", "small", "base", "big", "multi30k-tiny", "kyubyong", "student-tiny", "student-micro");
  Preset p = preset(name);
  CHECK_THROWS_WITH(p.config.check(),
                    Catch::Matchers::StartsWith("[config] source_vocab_size is 0; a model needs a vocabulary"));
  p.config.source_vocab_size = p.config.target_vocab_size = 8000;
  p.config.check();
  p.training.check();
}

TEST_CASE("The presets base and big match the paper") {
  // Vaswani et al. 2017, table 3, and section 5.3 with equation 3.
  const Preset base = preset("base"), big = preset("big");
  CHECK(base.config.d_model == 512);
  CHECK(base.config.ffn_dim == 2048);
  CHECK(base.config.num_heads == 8);
  CHECK(base.config.encoder_layers == 6);
  CHECK(base.config.decoder_layers == 6);
  CHECK(base.config.dropout == 0.1);
  CHECK(big.config.d_model == 1024);
  CHECK(big.config.ffn_dim == 4096);
  CHECK(big.config.num_heads == 16);
  CHECK(big.config.encoder_layers == 6);
  CHECK(big.config.decoder_layers == 6);
  CHECK(big.config.dropout == 0.3);
  for (const Preset& p : {base, big}) {
    CHECK(p.config.norm == NormPosition::post);
    CHECK(p.config.activation == Activation::relu);
    CHECK(p.config.positions == Positions::sinusoidal);
    CHECK(p.config.tie_embeddings == TieEmbeddings::all);
    CHECK(p.training.schedule == Schedule::noam);
    CHECK(p.training.learning_rate == 1);
    CHECK(p.training.warmup_steps == 4000);
    CHECK(p.training.beta1 == 0.9);
    CHECK(p.training.beta2 == 0.98);
    CHECK(p.training.epsilon == 1e-9);
    CHECK(p.training.label_smoothing == 0.1);
  }
}

TEST_CASE("The other presets follow their projects") {
  const Preset tiny = preset("multi30k-tiny");
  CHECK(tiny.config.d_model == 128);
  CHECK(tiny.config.encoder_layers == 4);
  CHECK(tiny.config.decoder_layers == 4);
  CHECK(tiny.config.num_heads == 4);
  CHECK(tiny.config.ffn_dim == 256);
  CHECK(tiny.config.dropout == 0.3);
  CHECK(tiny.training.warmup_steps == 2000);
  CHECK_THAT(tiny.training.learning_rate / std::sqrt(128.0 * 2000), WithinRel(4.94e-3, 1e-3));

  const Preset kyubyong = preset("kyubyong");  // its hparams.py and modules.py
  CHECK(kyubyong.config.d_model == 512);
  CHECK(kyubyong.config.ffn_dim == 2048);
  CHECK(kyubyong.config.encoder_layers == 6);
  CHECK(kyubyong.config.num_heads == 8);
  CHECK(kyubyong.config.dropout == 0.3);
  CHECK(kyubyong.config.norm_epsilon == 1e-8);
  CHECK_FALSE(kyubyong.config.output_bias);
  CHECK(kyubyong.config.tie_embeddings == TieEmbeddings::all);
  CHECK(kyubyong.training.label_smoothing == 0.1);
  CHECK(kyubyong.training.warmup_steps == 4000);
  CHECK_THAT(kyubyong.training.learning_rate / std::sqrt(512.0 * 4000), WithinRel(3e-4, 1e-12));

  CHECK_THROWS_WITH(preset("Base"),
                    "[config] unknown preset 'Base'; the presets are toy, tiny, small, base, big, multi30k-tiny, "
                    "kyubyong, student-tiny, student-micro");
}

TEST_CASE("Options set one key each") {
  Config config;
  TrainingConfig training;
  const auto set = [&](const char* key, const char* value) { set_option(config, training, key, value); };
  set("d_model", "256");
  set("dropout", ".25");
  set("epsilon", "1e-8");
  set("activation", "swish");
  set("norm", "pre");
  set("positions", "learned");
  set("tie_embeddings", "none");
  set("output_bias", "false");
  set("schedule", "inverse_sqrt");
  set("seed", "18446744073709551615");
  set("bos_id", "7");
  CHECK(config.d_model == 256);
  CHECK(config.dropout == 0.25);
  CHECK(training.epsilon == 1e-8);
  CHECK(config.activation == Activation::swish);
  CHECK(config.norm == NormPosition::pre);
  CHECK(config.positions == Positions::learned);
  CHECK(config.tie_embeddings == TieEmbeddings::none);
  CHECK_FALSE(config.output_bias);
  CHECK(training.schedule == Schedule::inverse_sqrt);
  CHECK(training.seed == std::numeric_limits<std::uint64_t>::max());
  CHECK(config.bos_id == 7);
}

TEST_CASE("Unknown keys and impossible values are refused by name") {
  Config config;
  TrainingConfig training;
  const auto [key, value, message] = GENERATE(table<std::string, std::string, std::string>({
      {"d-model", "256", "[config] unknown option 'd-model'; did you mean 'd_model'?"},
      {"warmup", "10", "[config] unknown option 'warmup'; did you mean 'warmup_steps'?"},
      {"qqqqqqqq", "1", "[config] unknown option 'qqqqqqqq'"},
      {"", "1", "[config] unknown option ''"},
      {"d_model", "1.5", "[config] d_model must be a whole number from 1 to 16384, not 1.5"},
      {"d_model", "", "[config] d_model must be a whole number from 1 to 16384, not \"\""},
      {"d_model", "big", "[config] d_model must be a whole number from 1 to 16384, not \"big\""},
      {"d_model", "99999999999999999999", "[config] d_model must be a whole number from 1 to 16384, not 1e+20"},
      {"seed", "-1", "[config] seed must be a whole number of at least 0, not -1"},
      {"dropout", "nan", "[config] dropout must be a number of at least 0 and below 1, not \"nan\""},
      {"dropout", "0.1x", "[config] dropout must be a number of at least 0 and below 1, not \"0.1x\""},
      {"activation", "tanh", "[config] activation must be relu, gelu or swish, not \"tanh\""},
      {"activation", "1", "[config] activation must be relu, gelu or swish, not 1"},
      {"output_bias", "yes", "[config] output_bias must be true or false, not \"yes\""},
      {"optimizer", "lion", "[config] optimizer must be adam, adamw, sgd or muon, not \"lion\""},
      {"schedule", "[\"noam\"]",
       "[config] schedule must be noam, inverse_sqrt, cosine, linear or constant, not \"[\\\"noam\\\"]\""},
  }));
  CHECK_THROWS_WITH(set_option(config, training, key, value), message);
  CHECK(config == Config());
  CHECK(training == TrainingConfig());
}

TEST_CASE("A config survives JSON, digit for digit") {
  Preset p = preset("kyubyong");
  p.config.dropout = 0.1 + 0.2;
  p.config.norm = NormPosition::pre;
  p.training.seed = std::numeric_limits<std::uint64_t>::max();
  Config config;
  TrainingConfig training;
  from_json(to_json(p.config, &p.training), config, &training);
  CHECK(config == p.config);
  CHECK(training == p.training);
  Config alone;
  from_json(to_json(p.config, &p.training), alone);
  CHECK(alone == p.config);

  const auto json = nlohmann::json::parse(to_json(p.config));
  CHECK(json["d_model"] == 512);
  CHECK(json["norm"] == "pre");
  CHECK(json["output_bias"] == false);
  CHECK_FALSE(json.contains("learning_rate"));
}

TEST_CASE("JSON sets the keys it has; wrong JSON sets none") {
  Config config;
  from_json(R"({"num_heads": 4, "dropout": 0})", config);
  CHECK(config.num_heads == 4);
  CHECK(config.dropout == 0);
  CHECK(config.d_model == Config().d_model);

  Config same = config;
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {R"({"d_model": 64, "layers": 3})", "[config] unknown option 'layers'"},
      {R"({"d_model": 64, "num_heads": "4"})", "[config] num_heads must be a whole number from 1 to 1024, not \"4\""},
      {R"({"d_model": 64.0})", "[config] d_model must be a whole number from 1 to 16384, not 64.0"},
      {R"({"d_model": null})", "[config] d_model must be a whole number from 1 to 16384, not null"},
      {R"({"d_model": {}})", "[config] d_model must be a whole number from 1 to 16384, not {}"},
      {R"([1])", "[config] the options must be a JSON object, not array"},
      {R"("text")", "[config] the options must be a JSON object, not string"},
      {R"({"dropout": 1e999})", "[config] invalid JSON"},
      {"{\"d_model\": 64", "[config] invalid JSON: parse error at line 1"},
      {"", "[config] invalid JSON"},
      {"{\"\xFF\": 1}", "[config] invalid JSON"},
  }));
  CHECK_THROWS_WITH(from_json(text, same), Catch::Matchers::StartsWith(message));
  CHECK(same == config);
}

TEST_CASE("Deep JSON is refused") {
  Config config;
  CHECK_THROWS_AS(from_json(std::string(1000000, '['), config), Error);
  CHECK_THROWS_AS(from_json("{\"d_model\":" + std::string(1000000, '['), config), Error);
}

TEST_CASE("Impossible sizes are refused") {
  Config c = valid();
  c.check();
  std::string message;
  const auto expect = [&](const char* text) { message = text; };
  SECTION("heads") { c.num_heads = 7, expect("d_model 512 is not a multiple of num_heads 7"); }
  SECTION("no heads") { c.num_heads = 0, expect("num_heads must be a whole number from 1 to 1024, not 0"); }
  SECTION("no layers") { c.encoder_layers = 0, expect("encoder_layers must be a whole number from 1 to 1024, not 0"); }
  SECTION("classes of a translator") { c.classes = 2, expect("classes 2 and tags 0 need decoder_layers 0, not 6"); }
  SECTION("pooling with a decoder") {
    c.pooling = Pooling::first, expect("pooling and embedding_norm are for models without");
  }
  SECTION("a pooler without classes") { c.pooler = Pooler::tanh, expect("pooler and multi_label are for models"); }
  SECTION("an embedding norm with a decoder") {
    c.embedding_norm = true, expect("pooling and embedding_norm are for models without a decoder");
  }
  SECTION("a convolution with a decoder") {
    c.convolution_width = 3, expect("convolution_width is for models without a decoder");
  }
  SECTION("a convolution without a middle") {
    c.decoder_layers = 0, c.convolution_width = 4, expect("convolution_width is 4; it must be odd, or 0");
  }
  SECTION("two vocabularies of an encoder") {
    c.decoder_layers = 0, c.tie_embeddings = TieEmbeddings::none;
    expect("a model without a decoder has one vocabulary");
  }
  SECTION("negative") { c.d_model = -512, expect("d_model must be a whole number from 1 to 16384, not -512"); }
  SECTION("odd") {
    c.d_model = 15, c.num_heads = 3, expect("d_model is 15; with sinusoidal positions it must be even");
  }
  SECTION("odd heads") {
    c.positions = Positions::rotary, c.d_model = 10, c.num_heads = 2;
    expect("d_model 10 and num_heads 2 make heads of 5 features; with rotary positions that must be even");
  }
  SECTION("rotary scores") {
    c.positions = Positions::rotary, c.attention = AttentionScore::additive;
    expect("rotary positions need attention scaled_dot or dot");
  }
  SECTION("dropout 1") { c.dropout = 1, expect("dropout must be a number of at least 0 and below 1, not 1"); }
  SECTION("dropout -0.1") {
    c.attention_dropout = -0.1, expect("attention_dropout must be a number of at least 0 and below 1, not -0.1");
  }
  SECTION("no number") {
    c.activation_dropout = std::nan(""),
    expect("activation_dropout must be a number of at least 0 and below 1, not nan");
  }
  SECTION("epsilon 0") { c.norm_epsilon = 0, expect("norm_epsilon must be a number above 0, not 0"); }
  SECTION("end id") { c.eos_id = 100, expect("eos_id is 100; the vocabulary has ids from 0 to 99"); }
  SECTION("pad id") { c.pad_id = -1, expect("pad_id is -1; the vocabulary has ids from 0 to 99"); }
  SECTION("source smaller") {
    c.tie_embeddings = TieEmbeddings::target, c.source_vocab_size = 3;
    expect("eos_id is 3; the vocabulary has ids from 0 to 2");
  }
  SECTION("two vocabularies") {
    c.target_vocab_size = 200;
    expect("source_vocab_size 100 and target_vocab_size 200 differ; tie_embeddings 'all' needs one vocabulary");
  }
  SECTION("huge matrix") {
    c.source_vocab_size = c.target_vocab_size = 1 << 20;
    expect("source_vocab_size 1048576 times d_model 512 is more than 268435456");
  }
  SECTION("huge ffn") { c.ffn_dim = 131073, expect("ffn_dim must be a whole number from 1 to 131072, not 131073"); }
  CHECK_THROWS_WITH(c.check(), Catch::Matchers::StartsWith("[config] " + message));
}

TEST_CASE("An odd d_model is possible with learned positions") {
  Config c = valid();
  c.d_model = 15;
  c.num_heads = 3;
  c.positions = Positions::learned;
  CHECK_NOTHROW(c.check());
}

TEST_CASE("Impossible training options are refused") {
  TrainingConfig t;
  t.check();
  std::string message;
  const auto expect = [&](const char* text) { message = text; };
  SECTION("rate") { t.learning_rate = 0, expect("learning_rate must be a number above 0, not 0"); }
  SECTION("infinite rate") { t.learning_rate = INFINITY, expect("learning_rate must be a number above 0, not inf"); }
  SECTION("decay") { t.weight_decay = 0.1, expect("weight_decay is 0.1; it needs optimizer adamw, sgd or muon"); }
  SECTION("cosine") {
    t.schedule = Schedule::cosine, t.decay_steps = 4000;
    expect("decay_steps is 4000; schedule cosine needs more than warmup_steps, 4000");
  }
  SECTION("linear") {
    t.schedule = Schedule::linear, t.decay_steps = 4000;
    expect("decay_steps is 4000; schedule linear needs more than warmup_steps, 4000");
  }
  SECTION("Muon's rate") { t.muon_rate = 0, expect("muon_rate must be a number above 0, not 0"); }
  SECTION("sample") { t.output_sample = -1, expect("output_sample must be a whole number from 0 to 4194304, not -1"); }
  SECTION("warm-up") {
    t.warmup_steps = 0, expect("warmup_steps is 0; only the constant schedule works without a warm-up");
  }
  SECTION("beta") { t.beta2 = 1, expect("beta2 must be a number of at least 0 and below 1, not 1"); }
  SECTION("clipping") { t.clip_norm = -1, expect("clip_norm must be a number of at least 0, not -1"); }
  SECTION("smoothing") {
    t.label_smoothing = 1, expect("label_smoothing must be a number of at least 0 and below 1, not 1");
  }
  SECTION("batch") { t.batch_tokens = 0, expect("batch_tokens must be a whole number from 1 to 16777216, not 0"); }
  CHECK_THROWS_WITH(t.check(), "[config] " + message);
  t = {};
  t.schedule = Schedule::constant;
  t.warmup_steps = 0;
  CHECK_NOTHROW(t.check());
}
