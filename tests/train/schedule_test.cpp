#include "train/schedule.h"

#include <catch_amalgamated.hpp>
#include <cmath>

using namespace wasmformer;
using Catch::Approx;

TEST_CASE("The noam schedule matches the paper") {
  TrainingConfig c;
  c.schedule = Schedule::noam;
  c.learning_rate = 1;
  c.warmup_steps = 4000;
  // 512^-0.5 min(t^-0.5, t 4000^-1.5)
  CHECK(scheduled_rate(c, 512, 1) == Approx(1.746928107e-07).epsilon(1e-9));
  CHECK(scheduled_rate(c, 512, 4000) == Approx(6.987712430e-04).epsilon(1e-9));
  CHECK(scheduled_rate(c, 512, 16000) == Approx(3.493856215e-04).epsilon(1e-9));
  for (const Index step : {1, 2, 999, 3999, 4000, 4001, 123456})
    CHECK(scheduled_rate(c, 512, step) == Approx(noam_reference(512, static_cast<double>(step), 4000)).epsilon(1e-14));
  c.learning_rate = 2;
  CHECK(scheduled_rate(c, 512, 4000) == Approx(2 * 6.987712430e-04).epsilon(1e-9));
}

TEST_CASE("inverse_sqrt, cosine and constant rise to the learning rate, then fall or stay") {
  TrainingConfig c;
  c.learning_rate = 0.01;
  c.warmup_steps = 100;
  c.schedule = Schedule::inverse_sqrt;
  CHECK(scheduled_rate(c, 512, 1) == Approx(1e-4));
  CHECK(scheduled_rate(c, 512, 50) == Approx(5e-3));
  CHECK(scheduled_rate(c, 512, 100) == Approx(0.01));
  CHECK(scheduled_rate(c, 512, 400) == Approx(5e-3));
  c.schedule = Schedule::cosine;
  c.decay_steps = 300;
  CHECK(scheduled_rate(c, 512, 50) == Approx(5e-3));
  CHECK(scheduled_rate(c, 512, 100) == Approx(0.01));
  CHECK(scheduled_rate(c, 512, 150) == Approx(0.01 * (2 + std::sqrt(2)) / 4));
  CHECK(scheduled_rate(c, 512, 200) == Approx(5e-3));
  CHECK(scheduled_rate(c, 512, 300) == Approx(0).margin(1e-12));
  CHECK(scheduled_rate(c, 512, 1000) == Approx(0).margin(1e-12));
  c.schedule = Schedule::linear;
  CHECK(scheduled_rate(c, 512, 50) == Approx(5e-3));
  CHECK(scheduled_rate(c, 512, 100) == Approx(0.01));
  CHECK(scheduled_rate(c, 512, 150) == Approx(7.5e-3));
  CHECK(scheduled_rate(c, 512, 299) == Approx(5e-5));
  CHECK(scheduled_rate(c, 512, 300) == 0);
  CHECK(scheduled_rate(c, 512, 1000) == 0);
  c.schedule = Schedule::constant;
  CHECK(scheduled_rate(c, 512, 50) == Approx(5e-3));
  CHECK(scheduled_rate(c, 512, 100) == Approx(0.01));
  CHECK(scheduled_rate(c, 512, 100000) == Approx(0.01));
  c.warmup_steps = 0;
  CHECK(scheduled_rate(c, 512, 1) == Approx(0.01));
}

TEST_CASE("The peak rate is the rate at the end of the warm-up") {
  TrainingConfig c;
  c.warmup_steps = 100;
  for (const auto schedule :
       {Schedule::noam, Schedule::inverse_sqrt, Schedule::cosine, Schedule::linear, Schedule::constant}) {
    c.schedule = schedule;
    CAPTURE(word(schedule));
    CHECK(peak_rate(c, 512) == scheduled_rate(c, 512, 100));
    CHECK(peak_rate(c, 512) > scheduled_rate(c, 512, 99));
  }
}
