// Results of an encoder for texts: probabilities of their labels, and a tag for every word.
#pragma once

#include "tasks/annotate/labels.h"
#include "tasks/translate/translation.h"
#include "tensor/thread_pool.h"
#include "text/metrics/labels.h"
#include "wasmformer/annotation.h"

namespace wasmformer {

// Throws Error, beginning with `place`, if texts are not to be split for a model that never splits them.
void check_split(const AnnotateOptions& options, const Config& config, const std::string& place);

// Returns what a model does: "translates", "fills masks", "classifies", "tags" or "classifies and tags".
const char* purpose(const Config& config);

// The labels that are given: the most probable one, or with multi_label those more probable than not.
Labels chosen_labels(const Annotation& annotation, const Config& config);
// One per word.
Labels tag_names(const Annotation& annotation);

// The sequence with the largest sum of scores (Viterbi 1967), [words, tags], and of transitions, [tags, tags] or empty.
// If the tags are spans, the sequence keeps to their scheme.
std::vector<Index> best_tags(const Matrix& scores, const LabelNames& names, const Matrix& transitions = {});

// Any number of texts, in batches of at most `batch_tokens` tokens; one batch per step. Words beyond max_length tokens
// are tagged in further windows.
class AnnotationJob {
 public:
  // `model`, `pool` and `texts` must outlive it. Throws Error when the model has no labels, or a text is not UTF-8.
  AnnotationJob(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                const AnnotateOptions& options, Index batch_tokens = 2048);
  // The words of tagged texts.
  AnnotationJob(const ModelFile& model, ThreadPool& pool, const std::vector<AnnotatedText>& texts,
                const AnnotateOptions& options, Index batch_tokens = 2048);

  bool step();
  std::size_t done() const { return done_; }  // texts
  // One per text, in order, moved out. Valid once step() has returned false.
  std::vector<Annotation> take() { return std::move(results_); }
  const std::vector<Annotation>& results() const { return results_; }

  // Chooses the labels and tags of the first texts again, with another mix of scores; the probabilities of tags do not
  // change. For a job that keeps scores, once step() has returned false.
  void choose_again(const ScoreMix& mix, std::size_t texts);

 private:
  struct Window {
    std::size_t text, first_word;
    std::vector<TokenId> ids;
    std::vector<Index> at;
  };
  AnnotationJob(const ModelFile& model, ThreadPool& pool, std::size_t texts, const AnnotateOptions& options,
                Index batch_tokens);
  void read(std::size_t text, const std::string& content);
  void read_words(std::size_t text, const std::vector<std::string_view>& words);
  void take_tokens(std::size_t text, std::size_t window);
  struct Batch {
    std::vector<TokenId> ids;
    Spans spans;              // one per window
    std::vector<Index> rows;  // rows of the words
  };
  Batch next_batch();
  struct TagScores {
    Matrix words, transitions;  // [words, tags], [tags, tags] or empty
  };
  Matrix class_scores(const Window& window, const Matrix& encoder, const ScoreMix& mix) const;
  TagScores tag_scores(const Window& window, const Matrix& encoder, const ScoreMix& mix) const;
  void take_classes(const Window& window, Matrix encoder);
  void take_tags(const Window& window, Matrix encoder);
  void score_words(const std::string& content);
  void score_words_of(const std::vector<std::string_view>& words);

  const ModelFile& model_;
  ThreadPool& pool_;
  AnnotateOptions options_;
  Masks masks_;
  Index batch_tokens_;
  std::vector<Window> windows_;
  std::vector<Matrix> word_scores_, tag_word_scores_;  // one per text; one per word of it; or none
  std::vector<Matrix> kept_classes_, kept_tags_;       // the encoder's scores for each window; of classes, for its text
  std::size_t next_ = 0, done_ = 0;
  std::vector<Annotation> results_;
};

// All of it at once.
std::vector<Annotation> annotate(const ModelFile& model, ThreadPool& pool, const std::vector<std::string>& texts,
                                 const AnnotateOptions& options = {}, Index batch_tokens = 2048);

// Measures that fit the model, in percent: accuracy and macro_f1 of classes, tag_accuracy and span_f1 of tags, and for
// both frame_accuracy, the share of texts where everything is right. With multi_label, accuracy counts a text only if
// its whole set of labels is right.
struct AnnotationScores {
  std::map<std::string, double> figures;  // percent
  double exact_match = 0;                 // percent of texts whose classes and tags are all right
  Scores by_class, by_span;
  std::map<std::string, std::map<std::string, std::size_t>> confusion;  // by expected, then predicted class
};
// Scores `found`, which has one annotation per text, in the order of `texts`.
AnnotationScores score(const ModelFile& model, const std::vector<AnnotatedText>& texts,
                       const std::vector<Annotation>& found);

}  // namespace wasmformer
