#include "exchange/containers/npz.h"

#include <catch_amalgamated.hpp>

#include "schema/error.h"
#include "tests/exchange/containers/stored_zip.h"

using namespace wasmformer;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string npz(const std::string& array) {
  StoredZip zip;
  zip.files = {{"a.npy", array}};
  return zip.bytes();
}

const std::string six = number(1.0f) + number(2.0f) + number(3.0f) + number(4.0f) + number(5.0f) + number(6.0f);

}  // namespace

TEST_CASE("NumPy arrays are read") {
  const std::string floats = npz(npy("<f4", {2, 3}, six));
  const SafetensorsFile file = parse_npz(floats);
  CHECK(file.tensors.at("a").shape == std::vector<Index>{2, 3});
  CHECK(file.matrix("a")(1, 0) == 4);
  const std::string text = npz(npy("|i1", {5}, "hello"));
  CHECK(parse_npz(text).tensors.at("a").data == "hello");
  std::string two = npy("<f4", {6}, six);
  two[6] = 2;  // version 2, whose header's length has 4 bytes
  two.insert(10, std::string(2, '\0'));
  const std::string newer = npz(two);
  CHECK(parse_npz(newer).matrix("a")(0, 5) == 6);
}

TEST_CASE("Inconsistent NumPy arrays are refused") {
  const auto refused = [](const std::string& array, const std::string& message) {
    INFO(message);
    CHECK_THROWS_WITH(parse_npz(npz(array)), ContainsSubstring(message));
  };
  refused("hello", "[npz] array 'a' is truncated or not a .npy file");
  refused(npy("<f8", {3}, six), "[npz] array 'a' is of type '<f8'; expected <f4");
  refused(npy("|O", {3}, six), "[npz] array 'a' is of type '|O'");
  refused(npy("<f4", {2, 2}, six), "[npz] array 'a' needs 16 bytes, but has 24");
  refused(npy("<f4", {7}, six), "[npz] array 'a' has a shape that does not match its 24 bytes");
  refused(npy("<f4", {1u << 31, 1u << 31}, six), "[npz] array 'a' has a shape that");
  std::string fortran = npy("<f4", {2, 3}, six);
  fortran.replace(fortran.find("False"), 5, "True ");
  refused(fortran, "[npz] array 'a' is in Fortran order; save it in C order");
  std::string no_shape = npy("<f4", {2, 3}, six);
  no_shape.replace(no_shape.find("shape"), 5, "shade");
  refused(no_shape, "[npz] array 'a' has no shape");
  const std::string whole = npy("<f4", {2, 3}, six);
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK_THROWS_AS(parse_npz(npz(whole.substr(0, size))), Error);
}
