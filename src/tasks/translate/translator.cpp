#include "tasks/translate/translator.h"

#include <algorithm>
#include <atomic>

#include "tasks/translate/explain.h"
#include "tasks/translate/glossary.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
namespace {

// Throws Error if the options want a shortlist that the model does not have.
bool uses_shortlist(const ModelFile& model, const TranslateOptions& options) {
  const ShortlistUse use = options.full_vocabulary ? ShortlistUse::off : options.shortlist;
  WASMFORMER_CHECK(model.shortlist || use != ShortlistUse::on, ErrorCode::translate,
                   "shortlist is on, but this model has none");
  if (use != ShortlistUse::automatic) return use == ShortlistUse::on;
  const auto own = model.metadata.find(shortlist_use_key);
  return model.shortlist && (own == model.metadata.end() || own->second != word(ShortlistUse::off));
}

// Target tokens that the model's shortlist allows; empty: all.
std::vector<TokenId> shortlisted(const ModelFile& model, const std::vector<TokenId>& source,
                                 const TranslateOptions& options) {
  if (!uses_shortlist(model, options)) return {};
  return model.shortlist->candidates(source, model.source_tokenizer == model.target_tokenizer,
                                     model.transformer->config().target_vocab_size);
}

// The start that the options force on the translation of a source.
std::vector<TokenId> prefix_tokens(const ModelFile& model, const TranslateOptions& options, const Source& source) {
  const auto* text = std::get_if<std::string>(&options.prefix);
  if (!text) return std::get<std::vector<TokenId>>(options.prefix);
  return model.target_tokenizer->encode(source.in_capitals ? lowered(decode_utf8(*text)) : *text);
}

// Characters that the byte pieces of a translation may spell: those of its language, those of the source, as it was
// given and as the tokenizer normalizes it, and those of its terms.
CharacterSet characters_of_translation(const ModelFile& model, const Source& source, const std::u32string& terms) {
  const auto languages = model.metadata.find("languages");
  if (languages == model.metadata.end()) return CharacterSet::all();
  const std::string target = languages->second.substr(languages->second.find('-') + 1);  // all, without a hyphen
  const std::string_view code = std::string_view(target).substr(0, target.find_first_of("-_"));
  return CharacterSet::of_translation(code,
                                      decode_utf8(source.text + model.source_tokenizer->decode(source.ids)) + terms);
}

// The inputs of a search: the sources that are not empty.
std::vector<SearchInput> search_inputs(const ModelFile& model, const std::vector<Source>& sources,
                                       const TranslateOptions& options) {
  constexpr Index room = 50;  // tokens beyond the source's, section 6.1
  const Index longest = model.transformer->config().max_length;
  std::optional<Glossary> glossary;
  if (!options.glossary.empty()) glossary.emplace(options.glossary);
  std::vector<SearchInput> inputs;
  for (const Source& source : sources) {
    if (source.is_empty()) continue;
    SearchInput& input = inputs.emplace_back();
    input.source = source.ids;
    input.prefix = prefix_tokens(model, options, source);
    const Index tokens = static_cast<Index>(input.source.size() + input.prefix.size());
    input.max_length = options.max_length > 0 ? options.max_length : std::min(longest, tokens + room);
    input.number = source.number;
    input.candidates = shortlisted(model, input.source, options);
    input.tokenizer = model.target_tokenizer.get();
    std::u32string terms;
    if (glossary) input.constraints = glossary->constraints(model, source.text, input.source, terms);
    for (Constraint& one : placeholder_constraints(model, source)) input.constraints.push_back(std::move(one));
    if (!input.tokenizer->byte_pieces().is_empty()) input.characters = characters_of_translation(model, source, terms);
  }
  return inputs;
}

// The caller's ranges in a text.
std::vector<ByteRange> own_ranges(const TranslateOptions& options, std::size_t text) {
  constexpr std::size_t numbers = 3;
  const std::vector<Index>& all = options.kept_ranges;
  WASMFORMER_CHECK(all.size() % numbers == 0, ErrorCode::translate,
                   "kept_ranges has " << all.size() << " numbers, but each range has " << numbers);
  std::vector<ByteRange> ranges;
  for (std::size_t i = 0; i < all.size(); i += numbers)
    if (static_cast<std::size_t>(all[i]) == text) ranges.push_back({all[i + 1], all[i + 2]});
  return ranges;
}

std::vector<Source> tokenize_all(const ModelFile& model, const std::vector<std::string>& texts,
                                 const TranslateOptions& options, std::uint64_t first) {
  const KeepNames names = kept_names(model, options);
  std::vector<Source> sources;
  for (std::size_t i = 0; i < texts.size(); ++i)
    sources.push_back(tokenize(model, texts[i], first + i, names, own_ranges(options, i)));
  return sources;
}

TranslateOptions completed(const ModelFile& model, TranslateOptions options) {
  options.length_penalty = length_penalty(model, options);
  return options;
}

// Returns whether a product scales its inputs by the largest in the batch, which then must not be split among threads.
bool has_one_scale(const ModelFile& model) {
  bool is_found = false;
  model.transformer->visit(
      [&](const ParameterInfo&, const Parameter& p) { is_found |= p.packed.input_multiplier() == 0.0f; });
  return is_found;
}

const char* state(BeamOutcome outcome) {
  switch (outcome) {
    case BeamOutcome::kept:
      return "kept";
    case BeamOutcome::ended:
      return "ended";
    default:
      return "pruned";
  }
}

std::optional<std::string> reason(BeamOutcome outcome) {
  switch (outcome) {
    case BeamOutcome::crowded_out:
      return "beam";
    case BeamOutcome::outscored:
      return "score";
    case BeamOutcome::too_late:
      return "finished";
    default:
      return {};
  }
}

}  // namespace

double length_penalty(const ModelFile& model, const TranslateOptions& options) {
  if (options.length_penalty) return *options.length_penalty;
  const auto from_model = model.metadata.find("length_penalty");
  if (from_model == model.metadata.end()) return default_length_penalty;
  TranslateOptions parsed;
  set_field(fields(parsed), "length_penalty", from_model->second, "model");
  return *parsed.length_penalty;
}

TranslationJob::TranslationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                               const TranslateOptions& options, std::uint64_t first)
    : TranslationJob(model, pool, tokenize_all(model, texts, options, first), options) {}

TranslationJob::TranslationJob(const ModelFile& model, ThreadPool& pool, std::vector<Source> sources,
                               const TranslateOptions& options)
    : model_(model),
      pool_(pool),
      sources_(std::move(sources)),
      search_(*model.transformer, pool, search_inputs(model, sources_, options), completed(model, options)) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    sources_[i].has_terms = !options.glossary.empty();
    if (!sources_[i].is_empty()) searched_.push_back(static_cast<Index>(i));
  }
}

std::vector<std::string> TranslationJob::partial() const {
  std::vector<std::string> texts(sources_.size());
  for (std::size_t i = 0; i < searched_.size(); ++i) {
    const SearchHypothesis best = search_.hypotheses(static_cast<Index>(i)).front();
    texts[searched_[i]] = text_so_far(model_, sources_[searched_[i]], best.ids);
  }
  return texts;
}

// Fills the id and the piece, which stands for it in texts.
void TranslationJob::name(SourceToken& token, TokenId id) const {
  token.piece = model_.target_tokenizer->piece(id);
  token.id = id;
}

// Its text is filled in by write_texts().
Hypothesis TranslationJob::hypothesis(const SearchHypothesis& tokens) const {
  Hypothesis result{{}, tokens.score, {}};
  for (std::size_t i = 0; i < tokens.ids.size(); ++i) {
    TargetToken& token = result.tokens.emplace_back();
    name(token, tokens.ids[i]);
    token.log_probability = tokens.log_probabilities[i];
  }
  return result;
}

// The tree of sentence i of the search, whose best `returned` hypotheses the caller gets.
std::vector<BeamNode> TranslationJob::beam(Index i, Index returned) const {
  std::vector<BeamNode> nodes;
  for (const TracedToken& t : search_.trace(i)) {
    BeamNode& node = nodes.emplace_back();
    name(node, t.id);
    node.log_probability = t.log_probability;
    node.parent = t.parent;
    node.sum = t.sum;
    node.score = t.score;
    node.length = t.length;
    node.state = state(t.outcome);
    node.reason = reason(t.outcome);
    if (t.hypothesis >= 0 && t.hypothesis < returned) node.hypothesis = t.hypothesis;
  }
  return nodes;
}

std::vector<Translation> TranslationJob::result() const {
  std::vector<Translation> translations(sources_.size());
  for (std::size_t i = 0; i < sources_.size(); ++i) translations[i].source_tokens = shown_tokens(model_, sources_[i]);
  const TranslateOptions& options = search_.options();
  std::vector<std::vector<SearchHypothesis>> returned;
  for (std::size_t i = 0; i < searched_.size(); ++i) {
    auto& hypotheses = returned.emplace_back(search_.hypotheses(static_cast<Index>(i)));
    const std::size_t count = std::min(hypotheses.size(), static_cast<std::size_t>(options.n_best));
    hypotheses.resize(count);
    Translation& t = translations[searched_[i]];
    static_cast<Hypothesis&>(t) = hypothesis(hypotheses[0]);
    for (std::size_t n = 1; n < count; ++n) t.alternatives.push_back(hypothesis(hypotheses[n]));
    if (options.beam_trace) t.beam = beam(static_cast<Index>(i), static_cast<Index>(count));
  }
  if (!searched_.empty() && (options.attention || options.top_tokens > 0 || options.internals)) {
    std::vector<ForcedDecoding> sentences;
    for (std::size_t i = 0; i < searched_.size(); ++i)
      sentences.push_back({&sources_[searched_[i]].ids, &returned[i], &translations[searched_[i]]});
    explain(model_, pool_, options, search_.masks(), sentences);
  }
  write_texts(returned, translations);
  for (std::size_t i = 0; i < sources_.size(); ++i) show_pieces(translations[i], sources_[i]);
  return translations;
}

// The places of the kept spans that are found by attention: of each searched sentence the one that `returned` has at
// `rank`; empty for sentences without such spans.
std::vector<std::vector<std::size_t>> TranslationJob::places(const std::vector<std::vector<SearchHypothesis>>& returned,
                                                             std::size_t rank) const {
  std::vector<std::vector<std::size_t>> places(searched_.size());
  const auto needs_attention = [this](std::size_t i) {
    const Source& source = sources_[searched_[i]];
    return source.kept && source.kept->needs_attention();
  };
  bool is_needed = false;
  for (std::size_t i = 0; i < searched_.size(); ++i) is_needed |= needs_attention(i) && rank < returned[i].size();
  if (!is_needed) return places;
  std::vector<std::vector<SearchHypothesis>> hypotheses;
  for (const auto& all : returned) hypotheses.push_back({all[std::min(rank, all.size() - 1)]});
  std::vector<Translation> explained(searched_.size());
  std::vector<ForcedDecoding> sentences;
  for (std::size_t i = 0; i < searched_.size(); ++i)
    sentences.push_back({&sources_[searched_[i]].ids, &hypotheses[i], &explained[i]});
  TranslateOptions only_attention;
  only_attention.attention = true;
  explain(model_, pool_, only_attention, search_.masks(), sentences);
  for (std::size_t i = 0; i < searched_.size(); ++i) {
    if (!needs_attention(i)) continue;
    places[i] =
        places_by_attention(model_, sources_[searched_[i]], hypotheses[i][0].ids, explained[i].attention->cross);
  }
  return places;
}

// Fills in the texts of all hypotheses, and what the best ones keep.
void TranslationJob::write_texts(const std::vector<std::vector<SearchHypothesis>>& returned,
                                 std::vector<Translation>& translations) const {
  const auto ranks = static_cast<std::size_t>(search_.options().n_best);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto places_of = places(returned, rank);
    for (std::size_t i = 0; i < searched_.size(); ++i) {
      if (rank >= returned[i].size()) continue;
      Translation& translation = translations[searched_[i]];
      Restored restored = restored_text(model_, sources_[searched_[i]], returned[i][rank].ids, places_of[i]);
      Hypothesis& hypothesis = rank == 0 ? translation : translation.alternatives[rank - 1];
      hypothesis.text = std::move(restored.text);
      if (rank == 0) translation.kept = std::move(restored.kept);
    }
  }
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i].is_empty()) continue;
    Restored restored = restored_text(model_, sources_[i], {}, {});
    translations[i].text = std::move(restored.text);
    translations[i].kept = std::move(restored.kept);
  }
}

LoadedModel::LoadedModel(std::string_view model_file, ThreadPool& pool)
    : model_(parse_model(model_file, Weights::packed)), pool_(pool) {}

std::vector<Translation> LoadedModel::translate(const std::vector<std::string>& texts,
                                                const TranslateOptions& options) const {
  return translate_in_batches(model_, pool_, texts, options);
}

std::vector<std::vector<SourceToken>> LoadedModel::tokenize(const std::vector<std::string>& texts,
                                                            const TranslateOptions& options) const {
  std::vector<std::vector<SourceToken>> tokens;
  for (const Source& source : tokenize_all(model_, texts, options, 0)) tokens.push_back(shown_tokens(model_, source));
  return tokens;
}

LoadedModel::Job LoadedModel::start(const std::vector<std::string>& texts, const TranslateOptions& options,
                                    std::uint64_t first) const {
  return Job(model_, pool_, texts, options, first);
}

BatchedTranslation::BatchedTranslation(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                                       const TranslateOptions& options, Index batch_tokens, std::uint64_t first)
    : model_(model),
      pool_(pool),
      options_(options),
      batch_tokens_(static_cast<std::size_t>(batch_tokens)),
      sources_(tokenize_all(model, texts, options, first)),
      translations_(texts.size()) {
  const auto limit = static_cast<std::size_t>(model.transformer->config().max_length);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::size_t tokens = sources_[i].ids.size();
    if (tokens > limit)
      too_long_.push_back({i, tokens});
    else
      order_.push_back(i);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return sources_[a].ids.size() < sources_[b].ids.size(); });
}

void BatchedTranslation::refuse_too_long(std::size_t first) const {
  if (too_long_.empty()) return;
  const auto [text, tokens] = too_long_.front();
  const std::size_t number = first + text + 1;
  const Index most = model_.transformer->config().max_length;
  throw Error(ErrorCode::too_long,
              "sentence " + std::to_string(number) + " has " + std::to_string(tokens) +
                  " tokens; the model takes at most " + std::to_string(most),
              {{"number", number}, {"tokens", tokens}, {"most", most}});
}

void BatchedTranslation::begin_batch() {
  std::vector<Source> batch;
  const auto next = [&]() -> Source& { return sources_[order_[last_]]; };
  std::size_t tokens = 0;
  do {
    tokens += next().ids.size();
    batch.push_back(std::move(next()));
    ++last_;
  } while (last_ < order_.size() && tokens + next().ids.size() <= batch_tokens_);
  const bool is_short = batch.size() == 1 && model_.transformer->parameter_count() < 16'000'000;
  const std::size_t count = has_one_scale(model_) ? 1 : std::min(batch.size(), static_cast<std::size_t>(pool_.size()));
  for (std::size_t job = 0; job < count; ++job) {
    std::vector<Source> own;
    for (std::size_t i = job; i < batch.size(); i += count) own.push_back(std::move(batch[i]));
    jobs_.emplace_back(model_, is_short ? alone_ : pool_, std::move(own), options_);
  }
}

bool BatchedTranslation::step_for(std::chrono::milliseconds time) {
  if (jobs_.empty()) {
    if (last_ == order_.size()) return false;
    begin_batch();
  }
  const auto deadline = std::chrono::steady_clock::now() + time;
  std::atomic<bool> goes_on = false;
  pool_.parallel_for(static_cast<Index>(jobs_.size()), 1, [&](Index begin, Index) {
    while (jobs_[static_cast<std::size_t>(begin)].step()) {
      if (std::chrono::steady_clock::now() < deadline) continue;
      goes_on = true;
      return;
    }
  });
  if (goes_on) return true;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    std::size_t at = first_ + job;
    for (Translation& result : jobs_[job].result()) {
      translations_[order_[at]] = std::move(result);
      at += jobs_.size();
    }
  }
  jobs_.clear();
  first_ = last_;
  return last_ < order_.size();
}

std::vector<std::string> BatchedTranslation::partial() const {
  std::vector<std::string> texts(translations_.size());
  for (std::size_t i = 0; i < first_; ++i) texts[order_[i]] = translations_[order_[i]].text;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    std::size_t at = first_ + job;
    for (std::string& text : jobs_[job].partial()) {
      texts[order_[at]] = std::move(text);
      at += jobs_.size();
    }
  }
  return texts;
}

std::vector<Translation> translate_in_batches(const ModelFile& model, ThreadPool& pool,
                                              const std::vector<std::string>& texts, const TranslateOptions& options,
                                              Index batch_tokens, const std::function<void(std::size_t)>& done) {
  BatchedTranslation all(model, pool, texts, options, batch_tokens);
  all.refuse_too_long();
  finish(all, done);
  return all.take();
}

}  // namespace wasmformer
