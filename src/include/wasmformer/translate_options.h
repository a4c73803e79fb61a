// Options of a translation. visit() has the meaning and the range of each; a flag "" means that the program has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wasmformer/types.h"

namespace wasmformer {

// Names of the option `keep`. `typography` maps quotes and dashes instead of keeping them; `off` keeps nothing.
enum class KeepName { url, path, code, placeholder, handle, emoji, markup, number, script, typography, off };
WASMFORMER_ENUM_NAMES(KeepName, "url", "path", "code", "placeholder", "handle", "emoji", "markup", "number", "script",
                      "typography", "off");
using KeepNames = std::vector<KeepName>;

// A term of the source, and how it is to be translated.
struct GlossaryTerm {
  std::string source = {}, target = {};

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"source", "whole words of the source; * at the end stands for any ending"}, source);
    v({"target", "what the translation has for them, letter by letter"}, target);
  }
};

struct Sampling {
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;
  std::uint64_t seed = 1;

  template <class Visitor>
  void visit(Visitor&& v) {
    v({"temperature", "draw tokens at this temperature instead of searching", above(0)}, temperature);
    v({"top_k", "draw from the K most probable tokens; 0 for all", at_least(0)}, top_k);
    v({"top_p", "draw from the most probable tokens that together reach P (Holtzman et al. 2020)", above(0).up_to(1)},
      top_p);
    v({"seed", "the same seed draws the same text", {}, "sample-seed"}, seed);
  }
};

// Whether only the candidates of a model's shortlist are scored; automatic: the model decides.
enum class ShortlistUse { automatic, on, off };
WASMFORMER_ENUM_NAMES(ShortlistUse, "auto", "on", "off");

constexpr Range hypothesis_counts = between(1, 64);
constexpr double default_length_penalty = 0.6;  // section 6.1

template <class Visitor>
void visit_search(Visitor&& v, Index& beam_size, std::optional<double>& length_penalty) {
  v({"beam_size", "hypotheses kept at each step; 1 is greedy search", hypothesis_counts}, beam_size);
  v({"length_penalty",
     "alpha of ((5 + n) / 6)^alpha, which divides the score of n tokens (Wu et al. 2016); default: the model's "
     "own, if it has one, else 0.6",
     at_least(0)},
    length_penalty);
}

template <class Visitor>
void visit_keep(Visitor&& v, std::optional<KeepNames>& keep) {
  v({"keep",
     "what is copied instead of translated; off for nothing; default: everything, if the model has placeholder tokens "
     "or its metadata says so"},
    keep);
}

// A part of a text, in bytes of UTF-8.
struct ByteRange {
  Index begin = 0, end = 0;
};

struct TranslateOptions {
  Index beam_size = 4;
  std::optional<double> length_penalty = {};
  Index n_best = 1;
  Index max_length = 0;
  std::optional<Sampling> sampling = {};  // beam_size is then 1
  TextOrTokens prefix = {};
  std::vector<Index> masked_source = {};
  std::vector<AttentionHead> masked_heads = {};
  bool attention = false;
  Index top_tokens = 0;
  bool beam_trace = false;
  bool internals = false;
  ShortlistUse shortlist = ShortlistUse::automatic;
  bool full_vocabulary = false;  // the earlier form of ShortlistUse::off
  std::optional<KeepNames> keep = {};
  std::vector<Index> kept_ranges = {};  // for each: index of its text and a ByteRange in it; in order
  std::vector<GlossaryTerm> glossary = {};

  template <class Visitor>
  void visit(Visitor&& v) {
    visit_search(v, beam_size, length_penalty);
    v({"n_best", "hypotheses to return, best first; at most the beam size", at_least(1)}, n_best);
    v({"max_length", "longest translation in tokens; 0 for source tokens + 50", at_least(0)}, max_length);
    v({"sampling", "draw tokens instead of searching for the best"}, sampling);
    v({"prefix", "forced start of the translation; token ids ending with the end token are the whole translation"},
      prefix);
    v({"masked_source", "source tokens hidden from all attention, counted from 0", at_least(0), "mask-source"},
      masked_source);
    v({"masked_heads", "attention heads whose output is set to 0", {}, "mask-heads"}, masked_heads);
    v({"attention", "return the attention probabilities of every layer and head", {}, ""}, attention);
    v({"top_tokens", "return the K most probable tokens of each step", at_least(0), ""}, top_tokens);
    v({"beam_trace", "return everything that beam search kept and dropped", {}, ""}, beam_trace);
    v({"internals", "return embeddings, queries, keys, values and the residual stream", {}, ""}, internals);
    v({"shortlist",
       "score only the pieces in the model's shortlist; auto: if it has one, but not for models from a list by "
       "Mozilla, because Firefox uses none"},
      shortlist);
    v({"full_vocabulary", "the same as shortlist off: score all target pieces"}, full_vocabulary);
    visit_keep(v, keep);
    v({"kept_ranges", "further parts that are copied: of each its text, its first byte and the one behind it",
       at_least(0), ""},
      kept_ranges);
    v({"glossary", "terms that translations must use, each as often as its source stands in the text", {}, ""},
      glossary);
  }
};

}  // namespace wasmformer
