// What JavaScript sees of the C++ side; bindings/js/worker/native.ts says the same in TypeScript.
// Declarations only: lists cross as plain arrays and structs as plain objects, so that only Translator,
// TrainingRun and the jobs have to be deleted.
#include <nlohmann/json.hpp>

#include "arrays.h"
#include "train/plan.h"

using namespace emscripten;
using namespace wasmformer;

namespace {

// The module's threads, made by its first call: a thread that has ended frees its worker for a next one only
// when JavaScript goes on, so they stay.
ThreadPool& pool(int threads) {
  static ThreadPool pool(threads);
  return pool;
}

int start_threads(int threads) { return pool(threads).size(); }

// The file is copied once, and kept no longer than it is read.
std::unique_ptr<Translator> load(const Bytes& file) {
  return std::make_unique<Translator>(from_bytes(file), pool(1));
}

std::string config(const Translator& translator) { return to_json(translator.model().transformer->config()); }

using Job = Translator::Job;
std::unique_ptr<Job> start(const Translator& translator, const std::vector<std::string>& texts,
                           const TranslateOptions& options) {
  return std::unique_ptr<Job>(new Job(translator.start(texts, options)));
}

TranslateOptions default_options() { return {}; }
Sampling default_sampling() { return {}; }

std::map<std::string, std::string> metadata(const std::string& json) { return nlohmann::json::parse(json); }

struct RunTexts {
  std::string tsv;
  std::vector<std::string> sources, targets, valid_sources, valid_targets;
};

std::unique_ptr<RunPlan> plan_run(const std::string& request, const RunTexts& texts, const Bytes& model,
                                  const Bytes& source_tokenizer, const Bytes& target_tokenizer,
                                  double most_bytes) {
  RunInput input;
  input.train = {texts.sources, texts.targets};
  input.valid = {texts.valid_sources, texts.valid_targets};
  input.tsv = texts.tsv;
  input.model = from_bytes(model);
  input.source_tokenizer = from_bytes(source_tokenizer);
  input.target_tokenizer = from_bytes(target_tokenizer);
  input.most_bytes = most_bytes;
  return std::make_unique<RunPlan>(run_request(request), std::move(input));
}

std::unique_ptr<TrainingRun> begin_run(RunPlan& plan, const std::vector<Bytes>& trained) {
  std::vector<std::string> tokenizers;
  for (const Bytes& file : trained) tokenizers.push_back(from_bytes(file));
  return plan.begin(tokenizers, pool(1));
}

// With the defaults of what is left out.
std::string run_options(const std::string& json) {
  RunOptions options;
  from_json(json, fields(options), "run", Naming::camel);
  if (!options.pin_every) options.pin_every = options.report_every;
  return to_json(fields(options), Naming::camel);
}

// JSON of what TrainerInfo in bindings/js/shared/trainer-types.ts says.
std::string run_info(TrainingRun& run) {
  const Config& config = run.model().transformer->config();
  const TrainingConfig& training = run.trainer().config();
  return nlohmann::json{{"config", nlohmann::json::parse(to_json(config))},
                        {"settings", nlohmann::json::parse(to_json(config, &training))},
                        {"parameters", run.model().transformer->parameter_count()},
                        {"trainPairs", run.corpus().pairs.size()},
                        {"validationPairs", run.valid_corpus().pairs.size()},
                        {"skippedPairs", run.corpus().skipped + run.valid_corpus().skipped},
                        {"batchesPerEpoch", run.trainer().batches_per_epoch()},
                        {"estimatedBytes", training_bytes(config, training)},
                        {"step", run.progress().step},
                        {"epoch", run.epochs()},
                        {"metadata", run.metadata()}}
      .dump();
}

double take_mean_loss(TrainingRun& run) { return run.trainer().take_mean_loss(); }

std::unique_ptr<Job> run_start(TrainingRun& run, const std::vector<std::string>& texts,
                               const TranslateOptions& options) {
  return std::make_unique<Job>(run.packed_model(), pool(1), texts, options);
}

std::unique_ptr<EvaluationJob> run_evaluate(TrainingRun& run, const std::vector<std::string>& sources,
                                            const std::vector<std::string>& references,
                                            const TranslateOptions& options) {
  return std::make_unique<EvaluationJob>(run.packed_model(), pool(1), sources, references, options);
}

using ValidationJob = TrainingRun::ValidationJob;
std::unique_ptr<ValidationJob> run_validate(TrainingRun& run) { return std::make_unique<ValidationJob>(run); }

Bytes run_checkpoint(TrainingRun& run, const std::string& more, bool with_texts) {
  return to_bytes(run.checkpoint(metadata(more), with_texts));
}
Bytes run_model_file(TrainingRun& run, const std::string& more) {
  return to_bytes(run.model_file(metadata(more)));
}

// The first `count` validation pairs: sources, then targets.
std::vector<std::string> run_samples(const TrainingRun& run, Index count) {
  const ParallelText& text = run.valid_text();
  const auto n = std::min<std::ptrdiff_t>(count, static_cast<std::ptrdiff_t>(text.sources.size()));
  std::vector<std::string> both(text.sources.begin(), text.sources.begin() + n);
  both.insert(both.end(), text.targets.begin(), text.targets.begin() + n);
  return both;
}

// Numbers of JavaScript are exact up to 2^53.
double seed(const Sampling& sampling) { return static_cast<double>(sampling.seed); }
void set_seed(Sampling& sampling, double value) { sampling.seed = static_cast<std::uint64_t>(value); }

template <class T>
T or_empty(const std::optional<T>& list) {
  return list ? *list : T{};
}
std::string prefix(const TranslateOptions& options) {
  const auto* text = std::get_if<std::string>(&options.prefix);
  return text ? *text : "";
}
void set_prefix(TranslateOptions& options, const std::string& text) {
  if (!text.empty()) options.prefix = text;
}
std::vector<TokenId> prefix_ids(const TranslateOptions& options) {
  const auto* ids = std::get_if<std::vector<TokenId>>(&options.prefix);
  return ids ? *ids : std::vector<TokenId>{};
}
void set_prefix_ids(TranslateOptions& options, const std::vector<TokenId>& ids) {
  if (!ids.empty()) options.prefix = ids;
}

// Results are only read from JavaScript.
template <class Object, class Field>
void never_set(Object&, Field) {}
std::vector<Candidate> top(const TargetToken& token) { return or_empty(token.top); }
std::vector<BeamNode> beam(const Translation& t) { return or_empty(t.beam); }
template <AttentionMaps Attention::*maps>
std::optional<AttentionMaps> attention(const Translation& t) {
  return t.attention ? std::optional((*t.attention).*maps) : std::nullopt;
}
Index hypothesis(const BeamNode& node) { return node.hypothesis.value_or(-1); }

// Enumerations are their numbers.
int kind(const AttentionHead& head) { return head.attention; }
void set_kind(AttentionHead& head, int value) { head.attention = static_cast<AttentionHead::Kind>(value); }
int fate(const BeamNode& node) {
  if (!node.reason) return node.state == "kept" ? 0 : 1;
  return *node.reason == "beam" ? 2 : *node.reason == "score" ? 3 : 4;
}

}  // namespace

EMSCRIPTEN_BINDINGS(wasmformer) {
  register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  register_array<float>("Float32Array");
  register_array<TokenId>("number[]");
  register_array<Index>("number[]");
  register_array<AttentionHead>("AttentionHead[]");
  register_array<SourceToken>("SourceToken[]");
  register_array<Candidate>("Candidate[]");
  register_array<TargetToken>("TargetToken[]");
  register_array<Hypothesis>("Hypothesis[]");
  register_array<BeamNode>("BeamNode[]");
  register_array<LayerInternals>("LayerInternals[]");
  register_array<Translation>("Translation[]");
  register_array<Bytes>("Uint8Array[]");
  register_array<TokenizerJob>("TokenizerJob[]");
  register_optional<Sampling>();
  register_optional<AttentionMaps>();
  register_optional<Numbers>();
  register_optional<AttentionInternals>();
  register_optional<Internals>();

  value_object<Sampling>("Sampling")
      .field("temperature", &Sampling::temperature)
      .field("topK", &Sampling::top_k)
      .field("topP", &Sampling::top_p)
      .field("seed", &seed, &set_seed);
  value_object<AttentionHead>("AttentionHead")
      .field("attention", &kind, &set_kind)
      .field("layer", &AttentionHead::layer)
      .field("head", &AttentionHead::head);
  value_object<TranslateOptions>("TranslateOptions")
      .field("beamSize", &TranslateOptions::beam_size)
      .field("lengthPenalty", &TranslateOptions::length_penalty)
      .field("nBest", &TranslateOptions::n_best)
      .field("maxLength", &TranslateOptions::max_length)
      .field("sampling", &TranslateOptions::sampling)
      .field("prefix", &prefix, &set_prefix)
      .field("prefixIds", &prefix_ids, &set_prefix_ids)
      .field("maskedSource", &TranslateOptions::masked_source)
      .field("maskedHeads", &TranslateOptions::masked_heads)
      .field("attention", &TranslateOptions::attention)
      .field("topTokens", &TranslateOptions::top_tokens)
      .field("beamTrace", &TranslateOptions::beam_trace)
      .field("internals", &TranslateOptions::internals);

  value_object<SourceToken>("SourceToken").field("piece", &SourceToken::piece).field("id", &SourceToken::id);
  value_object<Candidate>("Candidate")
      .field("piece", &Candidate::piece)
      .field("id", &Candidate::id)
      .field("logProbability", &Candidate::log_probability);
  value_object<TargetToken>("TargetToken")
      .field("piece", &TargetToken::piece)
      .field("id", &TargetToken::id)
      .field("logProbability", &TargetToken::log_probability)
      .field("top", &top, &never_set<TargetToken, std::vector<Candidate>>);
  value_object<AttentionMaps>("AttentionMaps")
      .field("layers", &AttentionMaps::layers)
      .field("heads", &AttentionMaps::heads)
      .field("rows", &AttentionMaps::rows)
      .field("columns", &AttentionMaps::columns)
      .field("data", &AttentionMaps::data);
  value_object<Numbers>("Numbers")
      .field("rows", &Numbers::rows)
      .field("columns", &Numbers::columns)
      .field("data", &Numbers::data);
  value_object<AttentionInternals>("AttentionInternals")
      .field("queries", &AttentionInternals::queries)
      .field("keys", &AttentionInternals::keys)
      .field("values", &AttentionInternals::values)
      .field("output", &AttentionInternals::output);
  value_object<LayerInternals>("LayerInternals")
      .field("selfAttention", &LayerInternals::self_attention)
      .field("crossAttention", &LayerInternals::cross_attention)
      .field("afterSelfAttention", &LayerInternals::after_self_attention)
      .field("afterCrossAttention", &LayerInternals::after_cross_attention)
      .field("afterFeedForward", &LayerInternals::after_feed_forward);
  value_object<StackInternals>("StackInternals")
      .field("tokenEmbedding", &StackInternals::token_embedding)
      .field("positions", &StackInternals::positions)
      .field("layers", &StackInternals::layers)
      .field("output", &StackInternals::output);
  value_object<Internals>("Internals")
      .field("encoder", &Internals::encoder)
      .field("decoder", &Internals::decoder);
  value_object<BeamNode>("BeamNode")
      .field("piece", &BeamNode::piece)
      .field("id", &BeamNode::id)
      .field("logProbability", &BeamNode::log_probability)
      .field("parent", &BeamNode::parent)
      .field("sum", &BeamNode::sum)
      .field("score", &BeamNode::score)
      .field("length", &BeamNode::length)
      .field("fate", &fate, &never_set<BeamNode, int>)
      .field("hypothesis", &hypothesis, &never_set<BeamNode, Index>);
  value_object<Hypothesis>("Hypothesis")
      .field("text", &Hypothesis::text)
      .field("score", &Hypothesis::score)
      .field("targetTokens", &Hypothesis::tokens);
  value_object<Translation>("Translation")
      .field("text", &Translation::text)
      .field("score", &Translation::score)
      .field("targetTokens", &Translation::tokens)
      .field("sourceTokens", &Translation::source_tokens)
      .field("alternatives", &Translation::alternatives)
      .field("encoder", &attention<&Attention::encoder>,
             &never_set<Translation, std::optional<AttentionMaps>>)
      .field("decoder", &attention<&Attention::decoder>,
             &never_set<Translation, std::optional<AttentionMaps>>)
      .field("cross", &attention<&Attention::cross>, &never_set<Translation, std::optional<AttentionMaps>>)
      .field("beam", &beam, &never_set<Translation, std::vector<BeamNode>>)
      .field("internals", &Translation::internals);

  value_object<RunTexts>("RunTexts")
      .field("tsv", &RunTexts::tsv)
      .field("sources", &RunTexts::sources)
      .field("targets", &RunTexts::targets)
      .field("validSources", &RunTexts::valid_sources)
      .field("validTargets", &RunTexts::valid_targets);
  value_object<TokenizerOptions>("TokenizerOptions")
      .field("vocabSize", &TokenizerOptions::vocab_size)
      .field("type", &TokenizerOptions::type)
      .field("normalization", &TokenizerOptions::normalization);
  value_object<TokenizerJob>("TokenizerJob")
      .field("sentences", &TokenizerJob::sentences)
      .field("options", &TokenizerJob::options);
  value_object<StepReport>("StepReport")
      .field("loss", &StepReport::loss)
      .field("learningRate", &StepReport::learning_rate)
      .field("gradientNorm", &StepReport::gradient_norm)
      .field("targetTokens", &StepReport::target_tokens);
  value_object<Evaluation>("Evaluation")
      .field("bleu", &Evaluation::bleu)
      .field("chrf", &Evaluation::chrf)
      .field("exactMatch", &Evaluation::exact_match)
      .field("translations", &Evaluation::hypotheses)
      .field("targetTokens", &Evaluation::target_tokens);
  value_object<Validation>("Validation")
      .field("loss", &Validation::loss)
      .field("greedy", &Validation::greedy)
      .field("isBest", &Validation::is_best);

  class_<Job>("Job")
      .function("step", &Job::step)
      .function("partial", &Job::partial)
      .function("result", &Job::result);
  class_<Translator>("Translator").function("start", &start).function("config", &config);

  class_<EvaluationJob>("EvaluationJob")
      .function("step", &EvaluationJob::step)
      .function("result", &EvaluationJob::result);
  class_<ValidationJob>("ValidationJob")
      .function("step", &ValidationJob::step)
      .function("result", &ValidationJob::result);
  class_<RunPlan>("RunPlan").function("untrained", &RunPlan::untrained).function("begin", &begin_run);
  class_<TrainingRun>("TrainingRun")
      .function("step", &TrainingRun::step)
      .function("epochs", &TrainingRun::epochs)
      .function("takeMeanLoss", &take_mean_loss)
      .function("info", &run_info)
      .function("change", &TrainingRun::change)
      .function("samples", &run_samples)
      .function("validate", &run_validate)
      .function("start", &run_start)
      .function("evaluate", &run_evaluate)
      .function("checkpoint", &run_checkpoint)
      .function("modelFile", &run_model_file);

  function("planRun", &plan_run);
  function("runOptions", &run_options);
  function("describeTraining", &describe_training);
  function("startThreads", &start_threads);
  function("load", &load);
  function("defaultOptions", &default_options);
  function("defaultSampling", &default_sampling);
}
