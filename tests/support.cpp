// Where the fixtures lie in the clone that the tests were built from.
#include "support.h"

std::string own_fixtures_path() { return WASMFORMER_TEST_FIXTURES; }
