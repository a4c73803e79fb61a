// Pipelines that classify texts or tag words.
import { checked } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type { TaggedSpan, TaggedToken } from '../shared/types.js';
import type { Classifier, Tagger } from '../api/encoders.js';
import { classificationRules, taggingRules, withoutNull } from './options.js';
import type { ClassificationOptions, EntityOutput, LabelOutput, TaggingOptions } from './types.js';

export function classification(classifier: Classifier) {
  return async (texts: string | readonly string[], options: ClassificationOptions = {}) => {
    const { top_k = 1, signal } = checked<ClassificationOptions>('pipeline', classificationRules, options);
    const found = await classifier.classify([texts].flat(), { topLabels: top_k ?? 0, signal });
    const all = found.map(({ labels }, i) => {
      if (labels.length === 0) throw new WasmformerError('pipeline', `text ${i + 1} is empty, so it has no label`);
      return labels.map(({ label, probability }): LabelOutput => ({ label, score: probability }));
    });
    return top_k === 1 || typeof texts === 'string' ? all.flat() : all;
  };
}

export function tagging(tagger: Tagger) {
  const part = ({ probability, text, start, end }: TaggedToken | TaggedSpan) =>
    ({ score: probability, word: text, start, end });
  return async (texts: string | readonly string[], options: TaggingOptions = {}) => {
    const given = checked<TaggingOptions>('pipeline', taggingRules, withoutNull(options));
    const { aggregation_strategy, ignore_labels = ['O'], signal } = given;
    const isSimple = aggregation_strategy === 'simple';
    if (isSimple && given.ignore_labels) {
      const message = "ignore_labels applies to single words, but aggregation_strategy is 'simple'";
      throw new WasmformerError('pipeline', message);
    }
    if (isSimple && !tagger.info.tags.every((tag) => /^(O$|[BI]-)/.test(tag))) {
      const message = "aggregation_strategy is 'simple', but the model's tags are not spans (O, B-…, I-…)";
      throw new WasmformerError('pipeline', message);
    }
    const all = (await tagger.tag([texts].flat(), { signal })).map(({ tokens, spans }) => {
      if (isSimple) return spans.map((span): EntityOutput => ({ entity_group: span.type, ...part(span) }));
      const words = tokens.map((token, i): EntityOutput => ({ entity: token.tag, index: i + 1, ...part(token) }));
      return words.filter(({ entity }) => !ignore_labels.includes(entity!));
    });
    return typeof texts === 'string' ? all[0]! : all;
  };
}
