// Marks what a shared library exports.
#pragma once

#if defined(__GNUC__) && !defined(__EMSCRIPTEN__)
#define WASMFORMER_API __attribute__((visibility("default")))
#else
#define WASMFORMER_API
#endif
