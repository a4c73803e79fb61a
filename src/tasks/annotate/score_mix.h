// Chooses on validation texts how the scores of an encoder and of words are mixed.
#pragma once

#include "tasks/annotate/inference.h"

namespace wasmformer {

// Chooses and applies the mix with which most labels and tags, or spans, are right. `job` keeps scores and is done with
// these texts.
ScoreMix choose_mix(AnnotationJob& job, const ModelFile& model, const std::vector<AnnotatedText>& texts);

}  // namespace wasmformer
