#include "train/run_setup.h"

#include <algorithm>

#include "tasks/translate/translate_task.h"
#include "text/vocabulary.h"
#include "train/run_options.h"

namespace wasmformer {
namespace {

std::string named(const TaskRequest& task) {
  return task_name(task.name, task.pairs.value_or(0), task.longest.value_or(0));
}

// A small constant rate, to limit forgetting.
TrainingConfig fine_tuning_config() {
  TrainingConfig gentle;
  gentle.schedule = Schedule::constant;
  gentle.learning_rate = 1e-4;
  gentle.warmup_steps = 0;
  return gentle;
}

bool has_texts(const RunInput& input) { return input.train && input.train->size() > 0; }
bool validates_given(const RunInput& input) { return input.valid && input.valid->size() > 0; }

void check_texts(const RunRequest& request, const RunInput& input) {
  const int given = has_texts(input) + request.task.has_value();
  const bool validates = request.validation || validates_given(input);
  WASMFORMER_CHECK(given <= 1, ErrorCode::train, "pairs, tsv and task all give sentence pairs; choose one of them");
  WASMFORMER_CHECK(given == 1 || request.resume, ErrorCode::train,
                   "one of pairs, tsv, task, labeled, tagged and text is needed");
  WASMFORMER_CHECK(given == 1 || !validates, ErrorCode::train, "validation is given, but no pairs to train on");
  WASMFORMER_CHECK(!request.task || !validates, ErrorCode::train,
                   "validation is given, but a task makes its own pairs for it");
  WASMFORMER_CHECK(!request.validation || !validates_given(input), ErrorCode::train,
                   "pairs to validate on are given, and also how many to hold back for it");
  WASMFORMER_CHECK(!has_texts(input) || !validates_given(input) || &input.train->task() == &input.valid->task(),
                   ErrorCode::train, "texts to validate on must be of the same kind as those to train on");
  const bool is_learned = !has_texts(input) || input.train->task().name() == request.objective;
  WASMFORMER_CHECK(request.objective.empty() || (is_learned && !request.task), ErrorCode::train,
                   "objective is given, but only plain text leaves a choice of what to learn");
}

void check_teacher(const RunRequest& request, const RunInput& input) {
  WASMFORMER_CHECK(input.teacher || !request.teacher_beam, ErrorCode::train,
                   "the teacher's beam size is given, but no teacher");
  if (!input.teacher) return;
  WASMFORMER_CHECK(translate_task().trains(input.teacher->transformer->config()), ErrorCode::train,
                   "the model does not translate, so it cannot be a teacher");
  WASMFORMER_CHECK(has_texts(input) && &input.train->task() == &translate_task(), ErrorCode::train,
                   "a teacher translates the sources of sentence pairs, and plain texts; give one of them");
  WASMFORMER_CHECK(validates_given(input), ErrorCode::train,
                   "a teacher is given, and no pairs to validate on; pairs held back for it would be the teacher's "
                   "translations");
}

void check_weights(const RunRequest& request, const RunInput& input) {
  const auto repeats = [](double weight) { return weight > 1; };
  const bool has_repeated = std::any_of(request.weights.begin(), request.weights.end(), repeats);
  WASMFORMER_CHECK(!has_repeated || validates_given(input), ErrorCode::train,
                   "weights repeat pairs, and no pairs to validate on are given; those held back for it could be "
                   "learned all the same");
}

bool is_counted(TokenizerType type) { return type == TokenizerType::character || type == TokenizerType::word; }

void check_tokenizer(const RunRequest& request, const RunInput& input) {
  const bool has_files = !input.source_tokenizer.empty();
  const bool fine_tunes = !request.resume && !input.model.empty();
  WASMFORMER_CHECK(!fine_tunes || request.preset.empty(), ErrorCode::train,
                   "preset is given, but a model that is fine-tuned has its own sizes");
  WASMFORMER_CHECK(!fine_tunes || !request.tokenizer, ErrorCode::train,
                   "a tokenizer's settings are given, but a model that is fine-tuned has its own tokenizer; "
                   "only a tokenizer's file can replace it");
  const bool makes_heads = has_texts(input) && input.train->task().makes_heads();
  WASMFORMER_CHECK(!fine_tunes || !makes_heads || !has_files, ErrorCode::train,
                   "tokenizer is given, but an encoder made from a model keeps that model's tokenizer");
  if (!request.tokenizer) return;
  const auto& [type, vocab_size, joint, normalization] = *request.tokenizer;
  WASMFORMER_CHECK(!request.resume, ErrorCode::train, "tokenizer is given, but a run that is resumed has its own");
  WASMFORMER_CHECK(!has_files, ErrorCode::train, "a tokenizer's settings are given, and also its file");
  WASMFORMER_CHECK(type != TokenizerType::character || !vocab_size, ErrorCode::train,
                   "a vocabulary size is given, but the texts decide how many characters there are");
  WASMFORMER_CHECK(!is_counted(type) || normalization != Normalization::nmt_nfkc, ErrorCode::train,
                   "the tokenizer's normalization is nmt_nfkc, but types char and word take the text "
                   "as it is");
}

std::vector<std::string> joined(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& file) {
  return std::make_shared<const Tokenizer>(file);
}

}  // namespace

RunSetup::RunSetup(RunRequest request, RunInput input)
    : request_(std::move(request)), changes_{parse_json(request_.config.text, "config")}, input_(std::move(input)) {
  WASMFORMER_CHECK(changes_.value.is_object(), ErrorCode::config, "config is not a JSON object");
  check_metadata(request_.metadata);
  check_texts(request_, input_);
  makes_heads_ = !request_.resume && has_texts(input_) && input_.train->task().makes_heads();
  check_tokenizer(request_, input_);
  check_teacher(request_, input_);
  check_weights(request_, input_);
  if (input_.teacher) take_tokenizers_of_teacher();
  if (request_.resume)
    continue_run();
  else if (makes_heads_)
    choose_encoder();
  else if (!input_.model.empty())
    take_model();
  else
    choose_encoder_decoder();
  take_texts();
}

void RunSetup::take_tokenizers_of_teacher() {
  const bool has_tokenizer = request_.tokenizer || !input_.source_tokenizer.empty() || !input_.model.empty();
  if (has_tokenizer) return;
  input_.source_tokenizer = input_.teacher->source_tokenizer->model();
  input_.target_tokenizer = input_.teacher->target_tokenizer->model();
}

void RunSetup::continue_run() {
  start_ = naming(input_.model_name, [&] { return resumed_start(std::move(input_.model)); });
  check_resumed();
}

// Chooses the settings of an encoder with new heads; the encoder itself is new or that of a model.
void RunSetup::choose_encoder() {
  const Preset own = input_.train->task().preset(*input_.train);
  settings_ = settings(input_.model.empty() ? own : Preset{{}, fine_tuning_config()}, /*is_joint=*/true);
  settings_.config.decoder_layers = 0;
  WASMFORMER_CHECK(!changes_.value.contains("decoder_layers"), ErrorCode::train,
                   "decoder_layers is given, but an encoder has no decoder");
  WASMFORMER_CHECK(!request_.task, ErrorCode::train, "a task is given, but an encoder needs texts");
  WASMFORMER_CHECK(!request_.augment, ErrorCode::train, "augment is given, but it changes translations, not labels");
  WASMFORMER_CHECK(input_.target_tokenizer.empty(), ErrorCode::train, "an encoder has one tokenizer, the source's");
}

// To fine-tune it.
void RunSetup::take_model() {
  const Preset own = settings({{}, fine_tuning_config()}, /*is_joint=*/true);
  const TokenizerPair others = input_.source_tokenizer.empty() ? TokenizerPair{} : tokenizers({});
  start_ = naming(input_.model_name, [&] { return fine_tuning_start(input_.model, own.training, changes_, others); });
  input_.model.clear();
}

void RunSetup::choose_encoder_decoder() {
  const bool has_one_file = input_.target_tokenizer.empty() || input_.target_tokenizer == input_.source_tokenizer;
  const bool is_joint = input_.source_tokenizer.empty() ? tokenizer().joint : has_one_file;
  const Task& task = has_texts(input_) ? input_.train->task() : translate_task();
  Preset own = request_.task ? task_preset(request_.task->name) : task.preset(*input_.train);
  if (request_.budget && !request_.task) own = task.budget_candidates(*input_.train).front().settings;
  settings_ = settings(own, is_joint);
  WASMFORMER_CHECK(task.trains(settings_.config), ErrorCode::train,
                   "decoder_layers is 0, but a translator needs a decoder; to train an encoder, give "
                   "labelled, tagged or plain text");
}

Preset RunSetup::settings(const Preset& base, bool is_joint) const {
  return changed(request_.preset.empty() ? base : preset(request_.preset), is_joint);
}

// The settings with what the request gives of them.
Preset RunSetup::changed(Preset p, bool is_joint) const {
  // Two vocabularies cannot share one table.
  if (!is_joint && p.config.tie_embeddings == TieEmbeddings::all) p.config.tie_embeddings = TieEmbeddings::target;
  const nlohmann::json& changes = changes_.value;
  for (const auto& [key, value] : changes.items())
    WASMFORMER_CHECK(!is_decided_by_vocabulary(key), ErrorCode::train,
                     key << " is given, but the vocabulary decides it");
  set_fields(fields(p.config) + fields(p.training), changes, "config");
  WASMFORMER_CHECK(!request_.seed || !changes.contains("seed") || p.training.seed == *request_.seed, ErrorCode::train,
                   "seed is " << *request_.seed << ", but the config's seed is " << p.training.seed);
  if (request_.seed) p.training.seed = *request_.seed;
  return p;
}

// Options given again on resuming must be those that the run began with.
void RunSetup::check_resumed() const {
  const ModelFile& model = start_->model;
  const Config& config = model.transformer->config();
  const bool is_joint = model.source_tokenizer->model() == model.target_tokenizer->model();
  Preset p = settings({config, start_->training}, is_joint);
  take_vocabulary(p.config, *model.source_tokenizer, *model.target_tokenizer);
  if (task_of(model).makes_heads()) take_labels(p.config, model.labels);
  WASMFORMER_CHECK(p.config == config && p.training == start_->training, ErrorCode::train,
                   "the run was begun with other settings than these; repeat its own or leave them out");
  const auto found = model.metadata.find(synthetic_task_key);
  const bool was_task = found != model.metadata.end();
  const std::string task = request_.task ? named(*request_.task) : "";
  WASMFORMER_CHECK(!request_.task || (was_task && found->second == task), ErrorCode::train,
                   "the run was trained on " << (was_task ? "the task " + found->second : "texts, not a task")
                                             << "; repeat its own task and number of pairs or leave them out");
  WASMFORMER_CHECK(!was_task || !has_texts(input_), ErrorCode::train,
                   "the run was trained on the task " << found->second << ", not on texts");
  for (const auto& [given, own] : {std::pair(&input_.source_tokenizer, model.source_tokenizer),
                                   std::pair(&input_.target_tokenizer, model.target_tokenizer)})
    WASMFORMER_CHECK(given->empty() || tokenizer_of(*given)->model() == own->model(), ErrorCode::train,
                     "the run was begun with another tokenizer than the one given");
}

void RunSetup::take_texts() {
  constexpr Index most_valid_pairs = 500;  // if the request does not say
  const std::uint64_t seed = (start_ ? start_->training : settings_.training).seed;
  const Config& config = start_ ? start_->model.transformer->config() : settings_.config;
  if (request_.task) {
    texts_ =
        task_texts(request_.task->name, request_.task->pairs.value_or(0), seed, request_.task->longest.value_or(0));
  } else if (has_texts(input_)) {
    texts_ = {std::move(input_.train), std::move(input_.valid)};
    if (!texts_.valid || texts_.valid->size() == 0) {
      const auto size = static_cast<Index>(texts_.train->size());
      const Index held = request_.validation.value_or(std::min(most_valid_pairs, (size + 19) / 20));
      if (held > 0)
        texts_ = hold_back(*texts_.train, held, seed);
      else
        texts_.valid = drawn(*texts_.train, most_valid_pairs, seed);
    }
  } else {
    auto stored = stored_texts(start_->model, seed);
    WASMFORMER_CHECK(stored, ErrorCode::train,
                     "the checkpoint holds no sentence pairs; give those that it was trained on");
    request_.keep_texts = false;  // the checkpoint's metadata still holds them
    texts_ = *std::move(stored);
  }
  const Task& task = texts_.train->task();
  const bool fits = !start_ || (request_.resume ? &task == &task_of(start_->model) : task.trains(config));
  WASMFORMER_CHECK(fits, ErrorCode::train, "the model was trained on another kind of text than this");
  texts_.train->settle(config);
  naming("validation", [&] { texts_.valid->settle(config); });
}

std::unique_ptr<Distillation> RunSetup::distillation(ThreadPool& pool, Communicator& ranks) const {
  if (!input_.teacher) return nullptr;
  constexpr Index usual_beam = 4;
  const ParallelText& pairs = pairs_of(*texts_.train, "a teacher translates sentence pairs only");
  return std::make_unique<Distillation>(input_.teacher, pool, ranks, pairs, request_.teacher_beam.value_or(usual_beam));
}

void RunSetup::take(const Distillation& done) {
  texts_.train = texts_of(done.result());
  input_.teacher.reset();
}

TokenizerRequest RunSetup::tokenizer() const {
  TokenizerRequest by_default;
  if (request_.task) by_default.type = TokenizerType::character;
  return request_.tokenizer.value_or(by_default);
}

// Pieces that a tokenizer gets if the request does not say: a piece for each character of the texts must fit, and
// Chinese or Japanese texts have thousands of them.
static Index default_vocab_size(const std::vector<std::string>& texts, Index usual_size) {
  constexpr Index pieces_beside_characters = 1000;
  return std::max(usual_size, static_cast<Index>(count_characters(texts)) + pieces_beside_characters);
}

std::vector<TokenizerJob> RunSetup::untrained() const {
  const TokenizerRequest t = tokenizer();
  const bool has_own = start_ || !input_.model.empty() || !input_.source_tokenizer.empty();
  if (has_own || is_counted(t.type)) return {};
  constexpr Index usual_size = 2000;
  const auto job = [&](std::vector<std::string> texts) {
    TokenizerOptions options;
    const Index wanted_size = request_.budget ? vocab_size_for(texts) : usual_size;
    options.vocab_size = t.vocab_size ? *t.vocab_size : default_vocab_size(texts, wanted_size);
    options.hard_vocab_limit = t.vocab_size.has_value();
    options.type = word(t.type);
    options.normalization = word(t.normalization.value_or(Normalization::nmt_nfkc));
    return TokenizerJob{std::move(texts), options};
  };
  const auto sides = texts_.train->sides();
  if (sides.size() == 1) return {job(sides[0])};
  if (t.joint) return {job(joined(sides[0], sides[1]))};
  return {job(sides[0]), job(sides[1])};
}

TokenizerPair RunSetup::tokenizers(const std::vector<std::string>& trained) const {
  const TokenizerRequest t = tokenizer();
  if (input_.source_tokenizer.empty() && is_counted(t.type))
    return counted_tokenizers(texts_.train->sides(), t.type, t.vocab_size.value_or(8000), t.joint);
  std::vector<std::string> files = trained;
  if (!input_.source_tokenizer.empty()) files = {input_.source_tokenizer, input_.target_tokenizer};
  WASMFORMER_CHECK(!files.empty(), ErrorCode::train, "the tokenizer has not been trained");
  const auto source = tokenizer_of(files[0]);
  return {source, files.back().empty() || files.back() == files[0] ? source : tokenizer_of(files.back())};
}

// Checkpoints keep it, as a run that is resumed needs the same pairs again.
Augmentation RunSetup::augmentation() {
  auto& metadata = start_->model.metadata;
  Augmentation own = request_.augment.value_or(Augmentation());
  if (!request_.resume) {
    check_ranges(fields(own), "augment");
    WASMFORMER_CHECK(!request_.task || own == Augmentation(), ErrorCode::train,
                     "augment is given, but a task makes its own pairs");
    if (own != Augmentation()) metadata[augment_key] = to_json(fields(own));
    return own;
  }
  own = {};
  if (metadata.contains(augment_key)) from_json(metadata[augment_key], fields(own), "checkpoint");
  WASMFORMER_CHECK(!request_.augment || *request_.augment == own, ErrorCode::train,
                   "the run was begun with another augment; repeat that one or leave augment out");
  return own;
}

TrainingStart RunSetup::with_new_heads(const std::vector<std::string>& trained) const {
  LabelNames labels = texts_.train->task().labels(*texts_.train, settings_.config);
  if (input_.model.empty())
    return encoder_start(settings_, tokenizers(trained).source, std::move(labels), input_.max_bytes);
  return naming(input_.model_name,
                [&] { return encoder_start(input_.model, settings_.training, changes_, std::move(labels)); });
}

TrainingStart RunSetup::new_start(const std::vector<std::string>& trained) const {
  return makes_heads_ ? with_new_heads(trained) : fresh_start(settings_, tokenizers(trained), input_.max_bytes);
}

std::vector<BudgetCandidate> RunSetup::candidates() const {
  const bool has_settings = makes_heads_ || request_.task || !request_.preset.empty();
  const bool gives_schedule = changes_.value.contains("schedule");
  if (has_settings) return {{.settings = gives_schedule ? settings_ : with_end(settings_)}};
  const bool gives_dropout = changes_.value.contains("dropout");
  const bool is_joint = settings_.config.tie_embeddings == TieEmbeddings::all;
  std::vector<BudgetCandidate> all = texts_.train->task().budget_candidates(*texts_.train);
  for (BudgetCandidate& candidate : all) {
    candidate.settings = changed(candidate.settings, is_joint);
    candidate.fits_dropout = candidate.fits_dropout && !gives_dropout;
  }
  return all;
}

// A run that is resumed keeps its settings, and one that fine-tunes a translator those of the model: only their end is
// chosen.
void RunSetup::choose_by_budget(const std::vector<std::string>& trained, ThreadPool& pool) {
  WASMFORMER_CHECK(!changes_.value.contains("decay_steps"), ErrorCode::train,
                   "decay_steps is given, but a budget decides where the schedule ends");
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - began_;
  const double seconds = std::max(1.0, *request_.budget * seconds_per_minute - spent.count());
  if (start_) {
    plan_ = {.settings = {start_->model.transformer->config(), start_->training}, .seconds = seconds};
    return;
  }
  plan_ = plan_budget(candidates(), seconds, *texts_.train, pool, [&](const Preset& candidate) {
    settings_ = candidate;
    return new_start(trained);
  });
  settings_ = plan_->settings;
}

std::unique_ptr<TrainingSession> RunSetup::begin(const std::vector<std::string>& trained, ThreadPool& pool) {
  WASMFORMER_CHECK(!input_.teacher, ErrorCode::train, "the teacher has not translated the texts yet");
  if (request_.budget) choose_by_budget(trained, pool);
  if (!start_) start_ = new_start(trained);
  auto& metadata = start_->model.metadata;
  if (request_.task)
    metadata[synthetic_task_key] = named(*request_.task);
  else if (request_.keep_texts)
    metadata[texts_key] = to_json(texts_);
  if (!request_.languages.empty()) metadata["languages"] = request_.languages;
  for (const auto& [key, value] : request_.metadata) metadata[key] = value;
  const Augmentation shares = augmentation();
  if (shares != Augmentation()) {
    const ParallelText& pairs = pairs_of(*texts_.train, "augment is given, but it changes translations only");
    texts_.train = texts_of(augmented(pairs, shares, start_->training.seed));
  }
  const Task& task = texts_.train->task();
  if (!request_.resume) task.prepare(start_->model, *texts_.train, start_->training);
  metadata.erase(task_key);
  if (&task != &task_of(start_->model.transformer->config())) metadata[task_key] = task.name();
  auto run = std::make_unique<TrainingSession>(std::move(*start_), std::move(texts_), pool);
  run->set_budget(std::move(plan_));
  return run;
}

}  // namespace wasmformer
