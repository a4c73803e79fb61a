// The former name of import.h, for programs that include it.
#pragma once

#include "exchange/import.h"
