// The path of the fixtures, in the one file that knows where the clone lies.
#include "support.h"

std::string own_fixtures_path() { return WASMFORMER_TEST_FIXTURES; }
