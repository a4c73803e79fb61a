// Corpus scores as sacreBLEU computes them.
#pragma once

#include <string>
#include <vector>

namespace wasmformer {

// sacreBLEU's tokenizers: mteval-v13a.pl's; the same with each Chinese character as a word; each
// character as a word; white space only.
enum class BleuTokenizer { v13a, zh, character, none };

// By sacreBLEU's name: 13a, zh, char or none. Throws Error for others.
BleuTokenizer bleu_tokenizer(const std::string& name);
// As sacreBLEU chooses by language pair: zh for "en-zh" and its scripts and regions ("en-zh_TW"), else 13a.
BleuTokenizer default_bleu_tokenizer(const std::string& languages);

struct BleuOptions {
  bool lowercase = false;  // lowercases Latin, Greek and Cyrillic letters first
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
};

// BLEU (Papineni et al. 2002): exp smoothing, one reference per line; 0 to 100. Throws Error if the lists
// differ in size or are empty.
double bleu(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references,
            const BleuOptions& options = {});
// BLEU of one sentence, ignoring n-gram orders longer than the sentence (sacreBLEU's "effective order").
double sentence_bleu(const std::string& hypothesis, const std::string& reference, const BleuOptions& options = {});
// Returns the number of BLEU tokens in `line`.
std::size_t bleu_words(const std::string& line, const BleuOptions& options = {});
std::string bleu_signature(const BleuOptions& options = {});

// chrF2 (Popović 2015): character 6-grams, no word n-grams, beta 2, whitespace ignored; 0 to 100.
double chrf(const std::vector<std::string>& hypotheses, const std::vector<std::string>& references);

}  // namespace wasmformer
