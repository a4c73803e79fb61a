// What JavaScript sees of the C++ side; bindings/js/worker/native.ts declares the same in TypeScript. Options
// cross as JSON, lists as plain arrays and structs as plain objects, so that only Translator, RunPlan,
// TrainingRun and the jobs must be deleted.
#include "calls.h"

using namespace emscripten;
using namespace wasmformer;

EMSCRIPTEN_BINDINGS(wasmformer) {
  register_type<Bytes>("Uint8Array");
  register_array<std::string>("string[]");
  register_array<float>("Float32Array");
  register_array<TokenId>("number[]");
  register_array<Index>("number[]");
  register_array<SourceToken>("SourceToken[]");
  register_array<Candidate>("Candidate[]");
  register_array<TargetToken>("TargetToken[]");
  register_array<Hypothesis>("Hypothesis[]");
  register_array<BeamNode>("BeamNode[]");
  register_array<LayerInternals>("LayerInternals[]");
  register_array<Translation>("Translation[]");
  register_array<AnnotationResult>("AnnotationResult[]");
  register_optional<std::string>();
  register_optional<Index>();
  register_optional<std::vector<Candidate>>();
  register_optional<std::vector<BeamNode>>();
  register_array<Bytes>("Uint8Array[]");
  register_array<TokenizerJob>("TokenizerJob[]");
  register_optional<MatrixData>();
  register_optional<AttentionInternals>();
  register_optional<Attention>();
  register_optional<AttentionMaps>();
  register_optional<Internals>();

  value_object<SourceToken>("SourceToken").field("piece", &SourceToken::piece).field("id", &SourceToken::id);
  value_object<Candidate>("Candidate")
      .field("piece", &Candidate::piece)
      .field("id", &Candidate::id)
      .field("logProbability", &Candidate::log_probability);
  value_object<TargetToken>("TargetToken")
      .field("piece", &TargetToken::piece)
      .field("id", &TargetToken::id)
      .field("logProbability", &TargetToken::log_probability)
      .field("top", &TargetToken::top);
  value_object<AttentionMaps>("AttentionMaps")
      .field("layers", &AttentionMaps::layers)
      .field("heads", &AttentionMaps::heads)
      .field("rows", &AttentionMaps::rows)
      .field("columns", &AttentionMaps::columns)
      .field("data", &AttentionMaps::data);
  value_object<Attention>("Attention")
      .field("encoder", &Attention::encoder)
      .field("decoder", &Attention::decoder)
      .field("cross", &Attention::cross);
  value_object<MatrixData>("MatrixData")
      .field("rows", &MatrixData::rows)
      .field("columns", &MatrixData::columns)
      .field("data", &MatrixData::data);
  value_object<AttentionInternals>("AttentionInternals")
      .field("queries", &AttentionInternals::queries)
      .field("keys", &AttentionInternals::keys)
      .field("values", &AttentionInternals::values)
      .field("output", &AttentionInternals::output)
      .field("projected", &AttentionInternals::projected);
  value_object<FeedForwardInternals>("FeedForwardInternals")
      .field("hidden", &FeedForwardInternals::hidden)
      .field("output", &FeedForwardInternals::output);
  value_object<LayerInternals>("LayerInternals")
      .field("selfAttention", &LayerInternals::self_attention)
      .field("crossAttention", &LayerInternals::cross_attention)
      .field("afterSelfAttention", &LayerInternals::after_self_attention)
      .field("afterCrossAttention", &LayerInternals::after_cross_attention)
      .field("feedForward", &LayerInternals::feed_forward)
      .field("afterFeedForward", &LayerInternals::after_feed_forward);
  value_object<StackInternals>("StackInternals")
      .field("tokenEmbedding", &StackInternals::token_embedding)
      .field("positions", &StackInternals::positions)
      .field("layers", &StackInternals::layers)
      .field("output", &StackInternals::output);
  value_object<Internals>("Internals").field("encoder", &Internals::encoder).field("decoder", &Internals::decoder);
  value_object<BeamNode>("BeamNode")
      .field("piece", &BeamNode::piece)
      .field("id", &BeamNode::id)
      .field("logProbability", &BeamNode::log_probability)
      .field("parent", &BeamNode::parent)
      .field("sum", &BeamNode::sum)
      .field("score", &BeamNode::score)
      .field("length", &BeamNode::length)
      .field("state", &BeamNode::state)
      .field("reason", &BeamNode::reason)
      .field("hypothesis", &BeamNode::hypothesis);
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
      .field("attention", &Translation::attention)
      .field("beam", &Translation::beam)
      .field("internals", &Translation::internals);

  value_object<AnnotationResult>("AnnotationResult")
      .field("json", &AnnotationResult::json)
      .field("attention", &AnnotationResult::attention);
  value_object<GivenText>("GivenText")
      .field("file", &GivenText::file)
      .field("sources", &GivenText::sources)
      .field("targets", &GivenText::targets);
  value_object<RunTexts>("RunTexts")
      .field("pairs", &RunTexts::pairs)
      .field("labelled", &RunTexts::labelled)
      .field("tagged", &RunTexts::tagged)
      .field("mono", &RunTexts::mono);
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

  class_<Job>("Job")
      .function("step", &take_turn<Job>)
      .function("stepToken", &Job::step)
      .function("partial", &Job::partial)
      .function("result", &Job::take);
  class_<Annotations>("Annotations").function("step", &Annotations::step).function("result", &Annotations::result);
  class_<Translator>("Translator")
      .function("start", &translator_start)
      .function("annotate", &translator_annotate)
      .function("info", &info);

  class_<EvaluationJob>("EvaluationJob")
      .function("step", &take_turn<EvaluationJob>)
      .function("result", &EvaluationJob::result);
  class_<ValidationJob>("ValidationJob").function("step", &ValidationJob::step).function("result", &validation_result);
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
      .function("startGreedy", &run_start_greedy)
      .function("annotate", &run_annotate)
      .function("evaluate", &run_evaluate)
      .function("checkpoint", &run_checkpoint)
      .function("modelFile", &run_model_file);

  function("planRun", &plan_run);
  function("runOptions", &run_options);
  function("describe", &describe);
  function("startThreads", &start_threads);
  function("load", &load);
}
