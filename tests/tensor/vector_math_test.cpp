// To add a function: a line in the GENERATE of each case.
#include "tensor/vector_math.h"

#include <algorithm>
#include <bit>
#include <catch_amalgamated.hpp>
#include <limits>

using namespace wasmformer;
using simd::Floats;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char* name;
  Floats (*vector)(Floats);
  long double (*exact)(long double);
};
const Function exp_{"exp", simd::exp, std::exp}, tanh_{"tanh", simd::tanh, std::tanh}, erf_{"erf", simd::erf, std::erf};

float of_one(const Function& f, float x) { return f.vector(simd::splat(x))[0]; }

// How many floats `y` is away from the exact value; the distance of two subnormals is that of their bits.
double units_in_the_last_place(float y, long double exact) {
  const float nearest = static_cast<float>(exact);
  if (y == nearest) return 0;
  const float size = std::abs(nearest);
  const double unit = static_cast<double>(size) - static_cast<double>(std::nextafter(size, -infinity));
  return static_cast<double>(std::abs(static_cast<long double>(y) - exact)) / unit;
}

}  // namespace

TEST_CASE("exp, tanh and erf are within two units in the last place over all floats") {
  const Function f = GENERATE(exp_, tanh_, erf_);
  CAPTURE(f.name);
  double worst = 0;
  float worst_at = 0;
  // Every 4099th bit pattern: negative, subnormal, tiny, large, each sign.
  constexpr int lanes = simd::lanes<float>;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 4099 * lanes) {
    Floats x;
    for (int i = 0; i < lanes; ++i) x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits + 4099u * i));
    const Floats y = f.vector(x);
    for (int i = 0; i < lanes; ++i) {
      if (std::isnan(x[i])) {
        if (!std::isnan(y[i])) FAIL(f.name << "(NaN) is " << y[i]);
        continue;
      }
      const double error = units_in_the_last_place(y[i], f.exact(x[i]));
      if (!(error <= worst)) worst = error, worst_at = x[i];
    }
  }
  INFO("worst at " << worst_at << ": " << of_one(f, worst_at));
  CHECK(worst < 2);
}

TEST_CASE("exp, tanh and erf match the library at the extremes") {
  const Function f = GENERATE(exp_, tanh_, erf_);
  const float x = GENERATE(-infinity, infinity, -std::numeric_limits<float>::max(), std::numeric_limits<float>::max(),
                           -0.0f, 0.0f, -200.0f, 200.0f);
  CAPTURE(f.name, x);
  const float y = of_one(f, x), expected = static_cast<float>(f.exact(x));
  CHECK(y == expected);
  CHECK(std::signbit(y) == std::signbit(expected));
  CHECK(std::isnan(of_one(f, not_a_number)));
}

TEST_CASE("exp reaches the smallest and the largest floats") {
  CHECK(of_one(exp_, -103.2f) == std::numeric_limits<float>::denorm_min());
  CHECK(of_one(exp_, -104.0f) == 0);
  CHECK(of_one(exp_, 88.72283f) > 3.4e38f);
  CHECK(of_one(exp_, 88.72283f) < infinity);
  CHECK(of_one(exp_, 88.72284f) == infinity);
}

TEST_CASE("The rough exponential is within 2.8e-6 of the exact one, and nearly 0 below -87") {
  constexpr int lanes = simd::lanes<float>;
  double worst = 0;
  for (float x = 0; x > -87; x -= 1e-4f) {
    const double exact = std::exp(static_cast<double>(x));
    const float y = simd::rough_exp_of_negative(simd::splat(x))[lanes - 1];
    worst = std::max(worst, std::abs(static_cast<double>(y) / exact - 1));
  }
  CHECK(worst < 2.8e-6);
  for (const float x : {-87.5f, -104.0f, -1e30f, -infinity}) {
    const float y = simd::rough_exp_of_negative(simd::splat(x))[0];
    CHECK((y >= 0 && y < 2e-38f));
  }
  CHECK(std::isnan(simd::rough_exp_of_negative(simd::splat(not_a_number))[0]));
}
