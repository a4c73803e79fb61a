#include "decode/translator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decode/explain.h"

namespace wasmformer {
namespace {

void check(const TranslateOptions& o) {
  WASMFORMER_CHECK(o.beam_size >= 1 && o.beam_size <= 64,
                   "[translate] beam_size " << o.beam_size << " is not in 1 to 64");
  WASMFORMER_CHECK(o.n_best >= 1 && o.n_best <= o.beam_size,
                   "[translate] n_best " << o.n_best << " is not in 1 to beam_size " << o.beam_size);
  WASMFORMER_CHECK(std::isfinite(o.length_penalty), "[translate] length_penalty is not a number");
  WASMFORMER_CHECK(o.max_length >= 0, "[translate] max_length " << o.max_length << " is negative");
  WASMFORMER_CHECK(o.top_tokens >= 0, "[translate] top_tokens " << o.top_tokens << " is negative");
  if (!o.sampling) return;
  WASMFORMER_CHECK(o.sampling->temperature > 0,
                   "[translate] temperature " << o.sampling->temperature << " is not above 0");
  WASMFORMER_CHECK(o.sampling->top_k >= 0, "[translate] top_k " << o.sampling->top_k << " is negative");
  WASMFORMER_CHECK(o.sampling->top_p > 0 && o.sampling->top_p <= 1,
                   "[translate] top_p " << o.sampling->top_p << " is not in (0, 1]");
}

}  // namespace

TranslationJob::TranslationJob(const ModelFile& model, ThreadPool& pool,
                               const std::vector<std::string>& texts, const TranslateOptions& options)
    : model_(model), pool_(pool), options_(options) {
  check(options);
  const Config& c = model.transformer->config();
  constexpr Index room = 50;  // tokens beyond the source's, section 6.1
  std::vector<TokenId> prefix = model.target_tokenizer->encode(options.prefix);
  prefix.insert(prefix.end(), options.prefix_ids.begin(), options.prefix_ids.end());
  std::vector<SearchInput> inputs;
  for (const std::string& text : texts) {
    std::vector<TokenId> source = model.source_tokenizer->encode(text);
    source.push_back(c.eos_id);
    const Index tokens = static_cast<Index>(source.size());
    if (tokens > 1) {
      const Index limit = std::min(c.max_length, tokens + static_cast<Index>(prefix.size()) + room);
      inputs.push_back(
          {source, prefix, options.max_length > 0 ? options.max_length : limit, options.masked_source});
      searched_.push_back(static_cast<Index>(sources_.size()));
    }
    sources_.push_back(std::move(source));
  }
  const SearchOptions search{options.beam_size, options.length_penalty, options.sampling,
                             options.masked_heads, options.beam_trace};
  if (!inputs.empty()) search_.emplace(*model.transformer, pool, std::move(inputs), search);
}

bool TranslationJob::step() { return search_ && search_->step(); }

std::vector<std::string> TranslationJob::partial() const {
  std::vector<std::string> texts(sources_.size());
  for (std::size_t i = 0; i < searched_.size(); ++i)
    texts[searched_[i]] =
        model_.target_tokenizer->decode(search_->hypotheses(static_cast<Index>(i)).front().ids);
  return texts;
}

Hypothesis TranslationJob::hypothesis(const FoundHypothesis& found) const {
  Hypothesis h{model_.target_tokenizer->decode(found.ids), found.score, {}};
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    TargetToken token;
    token.piece = model_.target_tokenizer->piece(found.ids[i]);
    token.id = found.ids[i];
    token.log_probability = found.log_probabilities[i];
    h.tokens.push_back(std::move(token));
  }
  return h;
}

// Of sentence i of the search, whose best `returned` hypotheses the caller gets.
std::vector<BeamNode> TranslationJob::beam(Index i, Index returned) const {
  std::vector<BeamNode> nodes;
  for (const TracedToken& t : search_->trace(i)) {
    BeamNode node;
    node.piece = model_.target_tokenizer->piece(t.id);
    node.id = t.id, node.log_probability = t.log_probability;
    node.parent = t.parent, node.sum = t.sum, node.score = t.score, node.length = t.length;
    node.fate = t.fate;
    if (t.hypothesis < returned) node.hypothesis = t.hypothesis;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<Translation> TranslationJob::result() const {
  std::vector<Translation> translations(sources_.size());
  for (std::size_t i = 0; i < sources_.size(); ++i)
    for (TokenId id : sources_[i])
      translations[i].source_tokens.push_back({model_.source_tokenizer->piece(id), id, 0});

  std::vector<std::vector<FoundHypothesis>> found;
  for (std::size_t i = 0; i < searched_.size(); ++i) {
    found.push_back(search_->hypotheses(static_cast<Index>(i)));
    if (static_cast<Index>(found.back().size()) > options_.n_best) found.back().resize(options_.n_best);
    Translation& t = translations[searched_[i]];
    static_cast<Hypothesis&>(t) = hypothesis(found.back().front());
    for (std::size_t n = 1; n < found.back().size(); ++n)
      t.alternatives.push_back(hypothesis(found.back()[n]));
    if (options_.beam_trace) t.beam = beam(static_cast<Index>(i), static_cast<Index>(found.back().size()));
  }
  if (search_ && (options_.attention || options_.top_tokens > 0 || options_.internals)) {
    std::vector<Explained> sentences;
    for (std::size_t i = 0; i < searched_.size(); ++i)
      sentences.push_back({&sources_[searched_[i]], &found[i], &translations[searched_[i]]});
    explain(model_, pool_, options_, search_->masks(), sentences);
  }
  return translations;
}

Translator::Translator(std::string_view model_file, ThreadPool& pool)
    : model_(parse_model(model_file, Weights::packed)), pool_(pool) {}

std::vector<Translation> Translator::translate(const std::vector<std::string>& texts,
                                               const TranslateOptions& options) const {
  Job job = start(texts, options);
  while (job.step()) {
  }
  return job.result();
}

Translator::Job Translator::start(const std::vector<std::string>& texts,
                                  const TranslateOptions& options) const {
  return Job(model_, pool_, texts, options);
}

BatchedTranslation::BatchedTranslation(const ModelFile& model, ThreadPool& pool,
                                       std::vector<std::string> texts, const TranslateOptions& options,
                                       Index batch_tokens)
    : model_(model),
      pool_(pool),
      texts_(std::move(texts)),
      options_(options),
      batch_tokens_(static_cast<std::size_t>(batch_tokens)),
      order_(texts_.size()),
      translations_(texts_.size()) {
  for (const std::string& text : texts_) {
    lengths_.push_back(model.source_tokenizer->encode(text).size() + 1);
    const auto limit = static_cast<std::size_t>(model.transformer->config().max_length);
    WASMFORMER_CHECK(lengths_.back() <= limit, "[translate] sentence "
                                                   << lengths_.size() << " has " << lengths_.back()
                                                   << " tokens; the model takes at most " << limit);
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](auto a, auto b) { return lengths_[a] < lengths_[b]; });
}

bool BatchedTranslation::step() {
  if (!job_) {
    if (last_ == order_.size()) return false;
    std::vector<std::string> batch;
    std::size_t tokens = 0;
    do {
      tokens += lengths_[order_[last_]];
      batch.push_back(texts_[order_[last_++]]);
    } while (last_ < order_.size() && tokens + lengths_[order_[last_]] <= batch_tokens_);
    job_.emplace(model_, pool_, batch, options_);
  }
  if (job_->step()) return true;
  auto results = job_->result();
  for (std::size_t i = first_; i < last_; ++i) translations_[order_[i]] = std::move(results[i - first_]);
  first_ = last_;
  job_.reset();
  return last_ < order_.size();
}

std::vector<Translation> translate_in_batches(const ModelFile& model, ThreadPool& pool,
                                              const std::vector<std::string>& texts,
                                              const TranslateOptions& options, Index batch_tokens,
                                              const std::function<void(std::size_t)>& done) {
  BatchedTranslation all(model, pool, texts, options, batch_tokens);
  std::size_t before = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = all.step();
    if (done && all.done() > before) done(before = all.done());
  }
  return all.take();
}

}  // namespace wasmformer
