#include "tasks/translate/corpus.h"

#include <algorithm>

#include "schema/error.h"
#include "text/piece_splitter.h"
#include "text/unicode/utf8.h"

namespace wasmformer {
void append(ParallelText& all, const ParallelText& more) {
  all.sources.insert(all.sources.end(), more.sources.begin(), more.sources.end());
  all.targets.insert(all.targets.end(), more.targets.begin(), more.targets.end());
}

void for_each_line(std::string_view text, const std::string& name,
                   const std::function<void(std::string_view, std::size_t)>& each) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    WASMFORMER_CHECK(is_utf8(line), ErrorCode::corpus, "line " << number << " of " << name << " is not UTF-8");
    each(line, number);
  }
}

ParallelText parse_tsv(std::string_view text, const std::string& name, Columns columns) {
  ParallelText pairs;
  for_each_line(text, name, [&](std::string_view line, std::size_t number) {
    if (line.empty()) return;
    std::vector<std::string_view> fields;
    for (std::size_t begin = 0; begin <= line.size(); begin += fields.back().size() + 1)
      fields.push_back(line.substr(begin, line.substr(begin).find('\t')));
    WASMFORMER_CHECK(std::max(columns.source, columns.target) < fields.size(), ErrorCode::corpus,
                     "line " << number << " of " << name << " has " << fields.size()
                             << (fields.size() == 1 ? " column; " : " columns; ") << columns.names << " are columns "
                             << columns.source << " and " << columns.target << ", counted from 0, separated by tabs");
    const std::string_view source = fields[columns.source];
    const auto begin = static_cast<std::size_t>(source.data() - line.data());
    pairs.sources.emplace_back(columns.goes_to_end ? line.substr(begin) : source);
    pairs.targets.emplace_back(fields[columns.target]);
  });
  return pairs;
}

Corpus tokenize_corpus(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                       const Tokenizer& source_tokenizer, const Tokenizer& target_tokenizer, const Config& config,
                       const PieceDropout& dropout) {
  WASMFORMER_CHECK(sources.size() == targets.size(), ErrorCode::corpus,
                   sources.size() << " source lines but " << targets.size() << " target lines");
  WASMFORMER_CHECK(!sources.empty(), ErrorCode::no_pairs, "there are no sentence pairs");
  const PieceSplitter source_splitter(source_tokenizer, dropout.rate);
  const PieceSplitter target_splitter(target_tokenizer, dropout.rate);
  WASMFORMER_CHECK(dropout.rate == 0 || source_splitter.can_split() || target_splitter.can_split(), ErrorCode::corpus,
                   "bpe_dropout has no effect: no piece of the vocabulary consists of two others");
  Random random(dropout.seed);
  Corpus corpus;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    WASMFORMER_CHECK(is_utf8(sources[i]), ErrorCode::corpus, "source line " << i + 1 << " is not UTF-8");
    WASMFORMER_CHECK(is_utf8(targets[i]), ErrorCode::corpus, "target line " << i + 1 << " is not UTF-8");
    SentencePair pair{source_splitter.split(source_tokenizer.encode(sources[i]), random),
                      target_splitter.split(target_tokenizer.encode(targets[i]), random)};
    const bool empty = pair.source.empty() || pair.target.empty();
    pair.source.push_back(config.eos_id);
    pair.target.push_back(config.eos_id);
    const auto longest = static_cast<Index>(std::max(pair.source.size(), pair.target.size()));
    if (empty || longest > config.max_length) {
      ++corpus.skipped;
    } else {
      corpus.pairs.push_back(std::move(pair));
      corpus.lines.push_back(static_cast<Index>(i));
    }
  }
  WASMFORMER_CHECK(!corpus.pairs.empty(), ErrorCode::no_usable_pairs,
                   "all " << corpus.skipped << " pairs have an empty side or more than max_length " << config.max_length
                          << " tokens",
                   {"count", corpus.skipped}, {"most", config.max_length});
  return corpus;
}

}  // namespace wasmformer
