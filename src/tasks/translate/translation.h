// The results of a translation, and the search that they come from.
#pragma once

#include "tasks/translate/search.h"
#include "wasmformer/translation.h"
