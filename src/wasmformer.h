// The library's interface: translation, training, model files and tokenizers, on bytes in memory, never a file:
//   wasmformer::ThreadPool pool(2);
//   const wasmformer::Translator translator(bytes_of_a_model_file, pool);
//   translator.translate({"Guten Tag."}, {.attention = true})[0].text
// TrainingRun (train/run_setup.h begins one) trains, evaluate() scores a model, parse_model() and serialize_model() are
// the model file, train_tokenizer() makes a tokenizer, exchange/ imports and exports. Options: model/config.h and
// tasks/translate/translate_options.h. A const Translator may be used by several threads; other objects by one at a
// time. What cannot be done throws wasmformer::Error.
#pragma once

#include "bundle/model_file.h"
#include "exchange/marian/marian_export.h"
#include "exchange/onnx/onnx_export.h"
#include "schema/error.h"
#include "tasks/translate/evaluate.h"
#include "tasks/translate/toy_tasks.h"
#include "tasks/translate/translator.h"
#include "text/metrics/bleu_and_chrf.h"
#include "text/tokenizer.h"
#include "text/tokenizer_trainer.h"
#include "text/vocabulary.h"
#include "train/training_run.h"

#ifndef __EMSCRIPTEN__
static_assert(EIGEN_MAX_ALIGN_BYTES == 64,
              "the library has matrices of another alignment: link wasmformer::wasmformer, which defines it");
#endif
