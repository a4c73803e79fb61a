#include "train/setup_steps.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>

#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translate_task.h"
#include "tensor/random.h"
#include "text/vocabulary.h"
#include "train/run_request.h"
#include "train/unigram_bias.h"

namespace wasmformer {
namespace {

// Texts are written and read one by one: the destructor of a large JSON value aborts if it gets no memory.
void append(std::string& json, const Texts& texts) {
  json += '[';
  for (std::size_t i = 0; i < texts.size(); ++i) json += (i > 0 ? "," : "") + texts.to_json(i);
  json += ']';
}

TrainingTexts parse_texts(const std::string& json, const ModelFile& model) {
  constexpr const char* damaged = "the sentence pairs of the run are damaged";
  const Task& task = task_of(model);
  TrainingTexts texts{task.no_texts(), task.no_texts()};
  Texts* part = nullptr;
  // The object is at depth 0, the two lists at 1, and a text is a value or a whole array or object at 2.
  const auto keeps = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::key && depth == 1) part = value == "train" ? texts.train.get() : texts.valid.get();
    const bool is_text =
        depth == 2 && (event == Event::value || event == Event::array_end || event == Event::object_end);
    if (!part || !is_text) return true;
    part->add_json({value}, model.transformer->config());
    return false;
  };
  try {
    const nlohmann::json rest = nlohmann::json::parse(json, keeps);
    WASMFORMER_CHECK(rest.at("train").empty() && rest.at("valid").empty(), ErrorCode::pairs_damaged, damaged);
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::pairs_damaged, damaged);
  }
  return texts;
}

std::string value(const std::map<std::string, std::string>& metadata, const char* key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

using LayerChoices = std::tuple<Index, Index, DecoderSelf>;
LayerChoices layers(const Config& c) { return {c.encoder_layers, c.decoder_layers, c.decoder_self}; }

// The identity by which a model with other layers takes over a parameter: the norm after the decoder's first sublayer
// stays when a recurrent unit replaces the self-attention before it.
ParameterId lasting(ParameterId id) {
  const bool is_norm = id.role == Role::norm_weight || id.role == Role::norm_bias;
  if (is_norm && id.module == Module::recurrent) id.module = Module::self_attention;
  return id;
}

// The same weights as floats. Where `config` has other layers, those in the same place begin with them, first to last,
// and the others at random.
std::unique_ptr<Transformer> trainable(Transformer& from, const Config& config, std::uint64_t seed) {
  std::map<ParameterId, Parameter*> weights;
  from.visit([&](const ParameterInfo& info, Parameter& p) { weights[lasting(info)] = &p; });
  auto transformer = std::make_unique<Transformer>(config);
  if (layers(config) != layers(from.config())) transformer->initialize(seed);
  transformer->visit([&](const ParameterInfo& info, Parameter& p) {
    const auto old = weights.find(lasting(info));
    if (old == weights.end()) return;
    Parameter& weight = *old->second;
    p.value = weight.has_value() ? std::move(weight.value) : weight.packed.matrix();
  });
  return transformer;
}

// The table for another vocabulary: pieces that both have keep their rows; a new piece starts as the mean of the rows
// that spell it, longest first. Rows of bytes, and of pieces that cannot be spelled, stay as in `fresh`.
Matrix rows_for(const Matrix& table, const Tokenizer& from, const Tokenizer& to, Matrix fresh) {
  std::unordered_map<std::string, TokenId> ids = from.ids();
  for (const auto& [own, other] : {std::pair(from.pad_id(), to.pad_id()), std::pair(from.bos_id(), to.bos_id()),
                                   std::pair(from.eos_id(), to.eos_id()), std::pair(from.unk_id(), to.unk_id())})
    if (own >= 0 && other >= 0) ids.insert_or_assign(to.piece(other), own);
  for (TokenId id = 0; id < to.vocab_size(); ++id) {
    const std::string piece = to.piece(id);
    const bool is_byte = piece.size() == 6 && piece.starts_with("<0x");
    Matrix sum = Matrix::Zero(1, table.cols());
    Index parts = 0;
    for (std::size_t begin = 0, length = 0; begin < piece.size(); begin += std::max<std::size_t>(length, 1)) {
      for (length = piece.size() - begin; length > 0 && !ids.contains(piece.substr(begin, length));) --length;
      if (length == 0 || (is_byte && length < piece.size())) continue;
      sum += table.row(ids.at(piece.substr(begin, length)));
      ++parts;
    }
    if (parts > 0) fresh.row(id) = sum / static_cast<Scalar>(parts);
  }
  return fresh;
}

void take_tokenizers(ModelFile& model, const TokenizerPair& to, std::uint64_t seed) {
  Transformer& old = *model.transformer;
  Config config = old.config();
  WASMFORMER_CHECK(config.tie_embeddings != TieEmbeddings::all || to.source == to.target, ErrorCode::train,
                   "two tokenizers are given, but the model has one vocabulary for both sides");
  take_vocabulary(config, *to.source, *to.target);
  std::vector<Parameter*> weights;
  old.visit([&](const ParameterInfo&, Parameter& p) { weights.push_back(&p); });
  auto transformer = std::make_unique<Transformer>(config);
  transformer->initialize(seed);
  auto weight = weights.begin();
  transformer->visit([&](const ParameterInfo& info, Parameter& p) {
    Matrix& own = (*weight++)->value;
    const bool is_source = info.stack == Stack::encoder;
    const Tokenizer& from = is_source ? *model.source_tokenizer : *model.target_tokenizer;
    const Tokenizer& other = is_source ? *to.source : *to.target;
    const bool has_rows_of_pieces =
        info.role == Role::token_embedding || (info.module == Module::vocabulary && info.role == Role::weight);
    if (has_rows_of_pieces)
      p.value = rows_for(own, from, other, std::move(p.value));
    else if (info.module == Module::vocabulary)
      p.value = rows_for(own.transpose(), from, other, p.value.transpose()).transpose();
    else
      p.value = std::move(own);
  });
  if (Parameter* start = transformer->zero_start_embedding()) start->value.row(config.bos_id).setZero();
  model.transformer = std::move(transformer);
  model.source_tokenizer = to.source;
  model.target_tokenizer = to.target;
  model.shortlist.reset();  // of the old vocabulary
}

}  // namespace

Preset task_preset(const std::string& task) {
  Preset p = preset("toy");
  p.training.decay_steps = find_task(task).steps;
  return p;
}

TrainingTexts task_texts(const std::string& task, Index pairs, std::uint64_t seed, Index longest) {
  constexpr Index valid_pairs = task_valid_pairs;  // all pairs are different, so none is in both parts
  const ToyTask& found = find_task(task);
  if (pairs == 0) pairs = found.pairs;
  WASMFORMER_CHECK(pairs > 0 && pairs <= found.max_pairs - valid_pairs, ErrorCode::task,
                   pairs << " pairs of " << task << " are asked for; there can be 1 to "
                         << found.max_pairs - valid_pairs << " and " << valid_pairs << " for validation");
  if (longest > 0)
    return {texts_of(make_pairs(task, pairs, seed, {.most = longest})),
            texts_of(make_pairs(task, valid_pairs, seed, {.least = longest + 1}))};
  ParallelText train = make_pairs(task, pairs + valid_pairs, seed), valid;
  const auto split = [&](std::vector<std::string>& from, std::vector<std::string>& to) {
    to.assign(from.end() - valid_pairs, from.end());
    from.resize(from.size() - valid_pairs);
  };
  split(train.sources, valid.sources);
  split(train.targets, valid.targets);
  return {texts_of(std::move(train)), texts_of(std::move(valid))};
}

static std::vector<Index> shuffled(const Texts& all, std::uint64_t seed) {
  std::vector<Index> order(all.size());
  std::iota(order.begin(), order.end(), Index(0));
  Random(seed).shuffle(order);
  return order;
}

std::shared_ptr<Texts> drawn(const Texts& all, Index most, std::uint64_t seed) {
  std::vector<Index> which = shuffled(all, seed);
  if (static_cast<Index>(which.size()) > most) which.resize(most);
  return all.select(which);
}

TrainingTexts hold_back(const Texts& all, Index count, std::uint64_t seed) {
  const auto size = static_cast<Index>(all.size());
  WASMFORMER_CHECK(count < size, ErrorCode::no_training_pairs,
                   count << " of " << size << " pairs are for validation; there "
                         << "must be some left to train on; 0 validates with those trained on",
                   {"held", count}, {"count", size});
  const std::vector<Index> order = shuffled(all, seed);
  std::vector<bool> is_held(all.size());
  for (Index i = 0; i < count; ++i) is_held[order[i]] = true;
  std::vector<Index> train, valid;
  for (Index i = 0; i < size; ++i) (is_held[i] ? valid : train).push_back(i);
  return {all.select(train), all.select(valid)};
}

// Text between the two numbers in the name of a task with a bound of lengths.
constexpr std::string_view before_longest = " pairs of at most ";

std::string task_name(const std::string& task, Index pairs, Index longest) {
  const std::string name = task + ", " + std::to_string(pairs > 0 ? pairs : find_task(task).pairs);
  return name + (longest == 0 ? " pairs" : std::string(before_longest) + std::to_string(longest) + " characters");
}

std::optional<TrainingTexts> stored_texts(const ModelFile& model, std::uint64_t seed) {
  const std::string texts = value(model.metadata, texts_key), task = value(model.metadata, synthetic_task_key);
  if (!texts.empty()) return parse_texts(texts, model);
  if (task.empty()) return std::nullopt;
  const std::size_t comma = task.find(", ");
  Index pairs = 0;
  if (comma != std::string::npos) std::from_chars(&task[comma + 2], task.data() + task.size(), pairs);
  WASMFORMER_CHECK(pairs > 0, ErrorCode::checkpoint, "the task of the run is damaged: " << task.substr(0, 80));
  Index longest = 0;
  const std::size_t bound = task.find(before_longest);
  if (bound != std::string::npos)
    std::from_chars(task.data() + bound + before_longest.size(), task.data() + task.size(), longest);
  return task_texts(task.substr(0, comma), pairs, seed, longest);
}

std::string to_json(const TrainingTexts& texts) {
  std::string json = R"({"train":)";
  append(json, *texts.train);
  json += R"(,"valid":)";
  append(json, *texts.valid);
  return json += '}';
}

TokenizerPair counted_tokenizers(const std::vector<std::vector<std::string>>& sides, TokenizerType type,
                                 Index vocab_size, bool joint) {
  const auto counted = [&](const std::vector<std::string>& texts) {
    return std::make_shared<const Tokenizer>(type == TokenizerType::character
                                                 ? character_model(texts)
                                                 : word_model(texts, static_cast<std::size_t>(vocab_size)));
  };
  if (!joint && sides.size() > 1) return {counted(sides[0]), counted(sides[1])};
  std::vector<std::string> all;
  for (const auto& side : sides) all.insert(all.end(), side.begin(), side.end());
  const auto one = counted(all);
  return {one, one};
}

// The rows of the tables of embeddings and of the output layer.
static double vocabulary_rows(const Config& c) {
  const double source = c.source_vocab_size;
  const double target = c.target_vocab_size;
  if (c.tie_embeddings == TieEmbeddings::all) return source;
  return c.tie_embeddings == TieEmbeddings::target ? source + target : source + 2 * target;
}

double training_bytes(const Config& c, const TrainingConfig& training) {
  const double d = c.d_model, ffn = c.ffn_dim, target = c.target_vocab_size;
  const double layers = c.encoder_layers + c.decoder_layers, attentions = layers + c.decoder_layers;
  const double sample = training.output_sample > 0 ? training.output_sample : target;
  const double scored = std::min(sample, target);
  const double keys = static_cast<double>(c.key_width());
  const double weights = d * vocabulary_rows(c) + attentions * 2 * d * (d + keys) + layers * 2 * d * ffn;
  // Value, gradient, two moments, packed weights for validation; a checkpoint holds three of these and is copied once.
  // Exact weights, if they are kept as well, are in the checkpoint too.
  const double kept = weights * 4 * (5 + 6 + (training.quantization_aware ? 3 : 0));
  // Kept per token: queries, keys, values, output, projection, sum and norm of each attention; both sides of each
  // hidden layer; and, for each piece that is scored, its probability and the gradient of that.
  const double activations = attentions * (5 * d + 2 * keys) + layers * (2 * ffn + 3 * d) + 2 * scored;
  return kept + static_cast<double>(training.batch_tokens) * 4 * activations;
}

void take_vocabulary(Config& config, const Tokenizer& source, const Tokenizer& target) {
  config.source_vocab_size = source.vocab_size();
  config.target_vocab_size = target.vocab_size();
  config.pad_id = target.pad_id() >= 0 ? target.pad_id() : target.unk_id();
  config.bos_id = target.bos_id() >= 0 ? target.bos_id() : config.pad_id;
  config.eos_id = target.eos_id();
  WASMFORMER_CHECK(config.eos_id >= 0 && config.eos_id == source.eos_id(), ErrorCode::train,
                   "the tokenizers need one end token, </s>, with the same id");
}

bool is_decided_by_vocabulary(const std::string& key) {
  return key.ends_with("_vocab_size") || key.ends_with("_id") || key == "classes" || key == "tags";
}

// With one digit after the point.
double gigabytes(double bytes) { return std::round(bytes / 1e8) / 10; }

TrainingStart fresh_start(Preset settings, const TokenizerPair& tokenizers, double max_bytes) {
  Config& config = settings.config;
  take_vocabulary(config, *tokenizers.source, *tokenizers.target);
  config.check();
  settings.training.check();
  if (settings.training.unigram_bias) check_output_biases(config);
  const double bytes = training_bytes(config, settings.training);
  WASMFORMER_CHECK(bytes <= max_bytes, ErrorCode::training_memory,
                   "these settings take about " << gigabytes(bytes) << " GB of memory, and there are "
                                                << gigabytes(max_bytes)
                                                << "; a smaller d_model, vocabulary or batch_tokens takes less",
                   {"need", gigabytes(bytes)}, {"have", gigabytes(max_bytes)});
  TrainingStart start{
      {std::make_unique<Transformer>(config), tokenizers.source, tokenizers.target, {}}, settings.training, {}};
  start.model.transformer->initialize(settings.training.seed);
  return start;
}

void take_labels(Config& config, const LabelNames& labels) {
  config.decoder_layers = 0;
  config.tie_embeddings = TieEmbeddings::all;
  config.classes = static_cast<Index>(labels.classes.size());
  config.tags = static_cast<Index>(labels.tags.size());
}

TrainingStart encoder_start(Preset settings, std::shared_ptr<const Tokenizer> tokenizer, LabelNames labels,
                            double max_bytes) {
  take_labels(settings.config, labels);
  TrainingStart start = fresh_start(std::move(settings), {tokenizer, tokenizer}, max_bytes);
  start.model.labels = std::move(labels);
  return start;
}

TrainingStart encoder_start(std::string_view model, const TrainingConfig& training, const JsonObject& changes,
                            LabelNames labels) {
  TrainingStart start = fine_tuning_start(model, training, JsonObject());
  Config config = start.model.transformer->config();
  if (labels.classes.empty()) {
    config.pooler = Pooler::none;
    config.multi_label = false;
  }
  if (config.tags == 0) config.crf = encoder_preset().config.crf;  // new heads
  config.crf &= !labels.tags.empty();
  set_fields(fields(config) + fields(start.training), changes.value, "config");
  take_labels(config, labels);
  config.target_vocab_size = config.source_vocab_size;
  std::map<ParameterId, Matrix*> weights;
  start.model.transformer->visit([&](ParameterId id, Parameter& p) {
    // A model that does not tie all embeddings has a table of the source's own, which the encoder shares with its
    // heads.
    if (id.role == Role::token_embedding && id.stack == Stack::encoder) id.stack = Stack::shared;
    weights[id] = &p.value;
  });
  auto encoder = std::make_unique<Transformer>(config);
  encoder->initialize(start.training.seed);
  encoder->visit([&](const ParameterInfo& info, Parameter& p) {
    const auto found = weights.find(info);
    const LabelNames& known = start.model.labels;
    const bool is_for_others = (info.module == Module::classifier && labels.classes != known.classes) ||
                               (info.module == Module::tagger && labels.tags != known.tags);
    if (found == weights.end() || is_for_others) return;
    WASMFORMER_CHECK(found->second->rows() == p.rows && found->second->cols() == p.cols, ErrorCode::train,
                     info.name << " of the model is " << shape(*found->second) << ", not " << shape(p.value)
                               << "; an encoder keeps the model's sizes");
    p.value = std::move(*found->second);
  });
  start.model.transformer = std::move(encoder);
  start.model.target_tokenizer = start.model.source_tokenizer;
  start.model.shortlist.reset();
  start.model.mix = {};
  start.model.words.reset();
  start.model.tag_words.reset();
  start.model.labels = std::move(labels);
  start.model.metadata.erase("languages");
  return start;
}

TrainingStart resumed_start(std::string checkpoint) {
  TrainingStart start;
  start.checkpoint = std::move(checkpoint);
  start.model = parse_model(start.checkpoint);
  start.training = checkpoint_config(start.model.metadata);
  WASMFORMER_CHECK(start.model.metadata.contains(progress_key), ErrorCode::no_checkpoint,
                   "this model file holds no state of a training run");
  return start;
}

TrainingStart fine_tuning_start(std::string_view model, const TrainingConfig& training, const JsonObject& changes,
                                const TokenizerPair& tokenizers) {
  TrainingStart start{parse_model(model), training, {}};
  const Config& own = start.model.transformer->config();
  Config config = own;
  set_fields(fields(config) + fields(start.training), changes.value, "config");
  WASMFORMER_CHECK(!start.training.unigram_bias, ErrorCode::train,
                   "unigram_bias is given, but a model that is fine-tuned begins with its own biases");
  Config sizes = config;
  sizes.dropout = own.dropout;
  sizes.attention_dropout = own.attention_dropout;
  sizes.activation_dropout = own.activation_dropout;
  std::tie(sizes.encoder_layers, sizes.decoder_layers, sizes.decoder_self) = layers(own);
  WASMFORMER_CHECK(sizes == own && &task_of(config) == &task_of(own), ErrorCode::train,
                   "a model that is fine-tuned keeps its sizes; only settings of training, dropout, "
                   "encoder_layers, decoder_layers and decoder_self can change");
  config.check();
  start.model.transformer = trainable(*start.model.transformer, config, start.training.seed);
  if (tokenizers.source) take_tokenizers(start.model, tokenizers, start.training.seed);
  start.model.shortlist.reset();  // it lacks what the model is to learn
  // Keys to drop: what is said of the old weights, in any language ("bleu.zh"), and the page's records of its runs.
  std::set<std::string> past{"training", progress_key, synthetic_task_key,    "steps", "averaged", "bleu", "chrf",
                             "hours",    "limits",     "quality_calibration", "run"};
  past.insert(figures_of_weights.begin(), figures_of_weights.end());
  std::erase_if(start.model.metadata,
                [&](const auto& entry) { return past.contains(entry.first.substr(0, entry.first.find('.'))); });
  return start;
}

}  // namespace wasmformer
