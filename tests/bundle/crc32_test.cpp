#include "bundle/crc32.h"

#include <catch_amalgamated.hpp>

using namespace wasmformer;

TEST_CASE("The checksum is that of zip archives, in one piece or in several") {
  CHECK(crc32("") == 0);
  CHECK(crc32("123456789") == 0xCBF43926u);  // the check value of CRC-32/ISO-HDLC
  CHECK(crc32("456789", crc32("123")) == 0xCBF43926u);
  CHECK(crc32(std::string(1000, '\xFF')) == crc32(std::string(999, '\xFF'), crc32("\xFF")));
}
