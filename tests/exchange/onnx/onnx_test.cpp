#include "exchange/onnx/onnx.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

// That ONNX Runtime reads and runs the graphs is for tests/cli/export.test.mjs.
TEST_CASE("A graph stores each tensor once, and tensors stay below 2 GiB") {
  OnnxGraph graph;
  const std::vector<Scalar> values(1000, Scalar(0.5));
  const std::size_t empty = graph.bytes().size();
  CHECK(graph.constant("w", {10, 100}, values.data()) == "w");
  const std::size_t one = graph.bytes().size();
  CHECK(one > empty + 4000);
  CHECK(one < empty + 4100);
  graph.constant("w", {10, 100}, values.data());
  CHECK(graph.integers({1, 2}) != graph.integers({12}));
  CHECK(graph.number(0.1f) != graph.number(0.1000001f));
  CHECK(graph.bytes().size() < one + 300);
  CHECK_THROWS_WITH(graph.constant("large", {1 << 15, 1 << 14}, values.data()),
                    ContainsSubstring("'large'") && ContainsSubstring("2 GiB"));
}
