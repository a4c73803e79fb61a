// The whole library: translators, classifiers and taggers from model files, and the training of such models.
//   const wasmformer::Translator translator("de-en.safetensors");
//   translator.translate("Guten Tag.").text
// Calls that cannot be answered throw wasmformer::Error (wasmformer/error.h). Texts are UTF-8. Each class says which of
// its calls several threads may make at once. Names may change until version 1.0; model files stay readable.
#pragma once

#include "wasmformer/classifier.h"
#include "wasmformer/error.h"
#include "wasmformer/import.h"
#include "wasmformer/tagger.h"
#include "wasmformer/training_run.h"
#include "wasmformer/translator.h"
#include "wasmformer/version.h"
