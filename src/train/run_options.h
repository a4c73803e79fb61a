// The length of a run, and how often it reports and validates: RunOptions of wasmformer/training.h.
#pragma once

#include "schema/options.h"
#include "wasmformer/training.h"
