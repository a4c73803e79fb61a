#include "train/distillation.h"

#include <catch_amalgamated.hpp>

#include "tests/train/teacher.h"

using namespace wasmformer;

TEST_CASE("A teacher translates each pair once, and its targets stand on one line") {
  ThreadPool pool(1);
  Communicator alone;
  const ParallelText text{{"ab", "a", "ab", "ab"}, {"a\tb", "", "c", "a\tb"}};
  Distillation work(small_teacher(), pool, alone, text, 3);
  CHECK(work.pairs().sources == std::vector<std::string>{"ab", "a", "ab"});
  const ParallelText learned = distilled(work);
  CHECK(learned.sources == text.sources);
  CHECK(learned.targets[0] == learned.targets[3]);
  CHECK(work.done() == 3);
  CHECK(on_one_line("a\tb\r\nc") == "a b  c");
}

TEST_CASE("A teacher that goes on behind targets that are known translates the rest alike") {
  ThreadPool pool(1);
  Communicator alone;
  Distillation whole(small_teacher(), pool, alone, many_pairs(), 2);
  const ParallelText expected = distilled(whole);
  Distillation rest(small_teacher(), pool, alone, many_pairs(), 2);
  rest.resume({whole.targets().begin(), whole.targets().begin() + 700});
  CHECK(rest.done() == 700);
  CHECK(distilled(rest).targets == expected.targets);
  Distillation none(small_teacher(), pool, alone, many_pairs(), 2);
  none.resume(whole.targets());
  CHECK_FALSE(none.step_for(std::chrono::seconds(1)));
  CHECK(none.result().targets == expected.targets);
}
