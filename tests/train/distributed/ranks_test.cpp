#include <algorithm>
#include <atomic>
#include <barrier>
#include <catch_amalgamated.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "tasks/annotate/labels.h"
#include "tasks/mask/mask_task.h"
#include "tests/train/small_run.h"
#include "tests/train/teacher.h"
#include "train/distributed/communicator.h"

using namespace wasmformer;
using Catch::Matchers::WithinAbs;

namespace {

// Ranks that are threads of this program.
struct Meeting {
  explicit Meeting(int size) : size(size), barrier(size), doubles(size), scalars(size) {}
  int size;
  std::barrier<> barrier;
  std::vector<std::span<double>> doubles;
  std::vector<std::span<Scalar>> scalars;
  std::mutex mutex;
  std::condition_variable has_mail;
  std::map<std::pair<int, int>, std::deque<std::string>> mail;  // from one rank to another
};

class ThreadRank : public Communicator {
 public:
  ThreadRank(Meeting& meeting, int rank) : m_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return m_.size; }
  void sum(std::span<double> values) override { add(m_.doubles, values); }
  void begin_sum(std::span<Scalar> values) override { add(m_.scalars, values); }
  void send(int to, const std::string& text) override {
    const std::lock_guard lock(m_.mutex);
    m_.mail[{rank_, to}].push_back(text);
    m_.has_mail.notify_all();
  }
  std::string receive(int from) override {
    std::unique_lock lock(m_.mutex);
    std::deque<std::string>& letters = m_.mail[{from, rank_}];
    m_.has_mail.wait(lock, [&] { return !letters.empty(); });
    std::string text = letters.front();
    letters.pop_front();
    return text;
  }

 private:
  template <class T>
  void add(std::vector<std::span<T>>& all, std::span<T> mine) {
    all[rank_] = mine;
    m_.barrier.arrive_and_wait();
    std::vector<T> total(mine.size());
    for (const auto& values : all)
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += values[i];
    m_.barrier.arrive_and_wait();
    std::ranges::copy(total, mine.begin());
    m_.barrier.arrive_and_wait();
  }
  Meeting& m_;
  int rank_;
};

struct Result {
  std::vector<double> losses;
  std::string weights;
};

Result train(const Config& c, const Examples& examples, const TrainingConfig& training, int steps,
             Communicator* ranks) {
  Transformer transformer(c);
  transformer.initialize(3);
  ThreadPool pool(1);
  Trainer trainer(transformer, examples, training, pool);
  if (ranks) trainer.join(*ranks);
  Result result;
  for (int i = 0; i < steps; ++i) result.losses.push_back(trainer.step().loss);
  result.weights = weight_bytes(transformer);
  return result;
}

void check_together(const Config& c, const Examples& examples, const TrainingConfig& training, int size,
                    const Result& alone) {
  Meeting meeting(size);
  std::vector<Result> all(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        ThreadRank ranks(meeting, rank);
        all[rank] = train(c, examples, training, 25, &ranks);
      });
  }
  for (const Result& result : all) {
    CHECK(result.weights == all[0].weights);
    for (std::size_t i = 0; i < alone.losses.size(); ++i)
      CHECK_THAT(result.losses[i], WithinAbs(alone.losses[i], 1e-5));
  }
}

Config encoder_config() {
  Config c = letters_config();
  c.decoder_layers = 0;
  return c;
}

// Texts of 1 to 6 letters, with a label and a tag for each letter.
AnnotatedExamples annotated_texts(Index texts, bool has_tags) {
  AnnotatedExamples examples;
  for (const SentencePair& pair : random_corpus(texts, 4).pairs) {
    AnnotatedExamples::Example& example = examples.all.emplace_back();
    example.source = pair.source;
    example.classes = {pair.source[0] % 3};
    for (Index i = 0; has_tags && i + 1 < static_cast<Index>(pair.source.size()); ++i) {
      example.words.push_back(i);
      example.tags.push_back(pair.source[i] % 2);
    }
  }
  return examples;
}

}  // namespace

TEST_CASE("Ranks that split each batch have the same losses as one rank") {
  Config c = letters_config();
  std::unique_ptr<Examples> examples = std::make_unique<Corpus>(random_corpus(120, 1));
  TrainingConfig training = small_training();
  SECTION("translation, a decoder of attention") {
    c.attention = GENERATE(AttentionScore::scaled_dot, AttentionScore::additive);
    c.norm = GENERATE(NormPosition::post, NormPosition::pre);
  }
  SECTION("translation, a recurrent decoder") { c.decoder_self = DecoderSelf::ssru; }
  SECTION("translation by Muon, with sampled outputs") {
    training.optimizer = OptimizerKind::muon;
    training.output_sample = 7;
  }
  SECTION("masked tokens") {
    c = encoder_config();
    training.output_sample = GENERATE(0, 8);
    auto masked = std::make_unique<MaskedExamples>();
    for (const SentencePair& pair : random_corpus(120, 1).pairs) masked->all.push_back(pair.source);
    examples = std::move(masked);
  }
  SECTION("labels and tags") {
    c = encoder_config();
    examples = std::make_unique<AnnotatedExamples>(annotated_texts(120, true));
    c.classes = 3, c.tags = 2;
    training.balance_classes = true, training.word_dropout = 0.1, training.tag_weight = 0.5;
  }
  SECTION("several labels per text") {
    c = encoder_config();
    examples = std::make_unique<AnnotatedExamples>(annotated_texts(120, false));
    c.classes = 3, c.multi_label = true;
  }
  c.dropout = c.attention_dropout = c.activation_dropout = 0.1;
  training.batch_tokens = 14;  // of two sentences or three, so that some shares have none
  for (const Index accumulate : {1, 3}) {
    training.accumulate = accumulate;
    const Result one = train(c, *examples, training, 25, nullptr);
    for (const int size : {2, 4}) {
      CAPTURE(accumulate, size);
      check_together(c, *examples, training, size, one);
    }
  }
}

TEST_CASE("Ranks that have read different texts are refused") {
  Meeting meeting(2);
  std::atomic<int> refused = 0;
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ThreadRank ranks(meeting, rank);
      Transformer transformer(letters_config());
      transformer.initialize(3);
      ThreadPool pool(1);
      const Corpus corpus = random_corpus(12, static_cast<std::uint64_t>(rank));
      Trainer trainer(transformer, corpus, small_training(), pool);
      try {
        trainer.join(ranks);
      } catch (const Error& e) {
        refused += std::string(e.what()).find("different texts") != std::string::npos;
      }
    });
  threads.clear();
  CHECK(refused == 2);
}

TEST_CASE("Ranks share a teacher's work, and all learn what one finds") {
  ThreadPool pool(1);
  Communicator alone;
  Distillation one(small_teacher(), pool, alone, many_pairs(), 2);
  const ParallelText expected = distilled(one);
  const int size = GENERATE(2, 3);
  const std::size_t known = GENERATE(0u, 100u, 2200u);
  Meeting meeting(size);
  std::vector<ParallelText> learned(static_cast<std::size_t>(size));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        ThreadPool own(1);
        ThreadRank ranks(meeting, rank);
        Distillation work(small_teacher(), own, ranks, many_pairs(), 2);
        std::vector<std::string> kept = one.targets();
        kept.resize(rank == 0 ? std::min(known, kept.size()) : 0);
        work.resume(std::move(kept));
        learned[rank] = distilled(work);
      });
  }
  for (const ParallelText& text : learned) {
    CHECK(text.sources == expected.sources);
    CHECK(text.targets == expected.targets);
  }
}
