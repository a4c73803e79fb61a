// Part of `npm run bench -- --learning --multi30k DIR`: the seconds until a model translates Multi30k, German to English,
// with 35 and 40 BLEU, tokenizer and one validation at the end included, natively and in a tab.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { root } from '../../bindings/tools/shell.mjs';
import { run } from './multi30k.mjs';

const folder = join(root, 'build/bench/learning');
const seeds = [31, 32, 33]; // none of them was used to choose a setting
const vocabulary = 8000;

// Settings that took 222 s on the pilot's Xeon; all goals are shares of their time in the same run.
const before = {
  norm: 'pre', dropout: 0.2, schedule: 'cosine', learning_rate: 0.004, warmup_steps: 400, decay_steps: 1300, clip_norm: 1,
  batch_tokens: 2048,
};
const fast = {
  positions: 'rotary', norm: 'pre', optimizer: 'muon', schedule: 'linear', warmup_steps: 50, clip_norm: 1, unigram_bias: true,
};
const recipes = {
  35: {
    steps: 1000, native: 0.28, tab: 0.65,
    config: {
      ...fast, dropout: 0.05, encoder_layers: 2, decoder_layers: 2, batch_tokens: 1024, output_sample: 1024, muon_rate: 0.012,
      learning_rate: 0.008, decay_steps: 1000,
    },
  },
  40: {
    steps: 1200, native: 1, tab: 2,
    config: {
      ...fast, dropout: 0.1, encoder_layers: 4, decoder_layers: 4, batch_tokens: 2048, output_sample: 1536, muon_rate: 0.015,
      learning_rate: 0.01, decay_steps: 1200,
    },
  },
};

const lines = (file) => gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');

/** One file that a page can fetch: the pairs for training, then those for validation. Returns how many are the latter. */
function writePairs(corpus, file) {
  const pairs = (part) => {
    const targets = lines(join(corpus, `${part}.en.gz`));
    return lines(join(corpus, `${part}.de.gz`)).map((source, i) => `${source}\t${targets[i]}\n`);
  };
  const validation = pairs('val');
  writeFileSync(file, gzipSync([...pairs('train'), ...validation].join('')));
  return validation.length;
}

/** Seconds and BLEU of one training by the program. */
function trainNatively(corpus, { steps, config }, seed) {
  const input = (part) => [join(corpus, `${part}.de.gz`), join(corpus, `${part}.en.gz`)];
  const tokenizer = join(folder, 'minutes.model');
  const output = join(folder, 'minutes');
  rmSync(output, { recursive: true, force: true });
  const begin = performance.now();
  run(['tokenizer', '--input', ...input('train'), '--vocab-size', String(vocabulary), '--type', 'bpe', '--output', tokenizer]);
  const [source, target] = input('train');
  const [validSource, validTarget] = input('val');
  run(['train', '--source', source, '--target', target, '--valid-source', validSource, '--valid-target', validTarget,
    '--tokenizer', tokenizer, '--preset', 'multi30k-tiny', '--threads', '2', '--seed', String(seed), '--max-steps', String(steps),
    '--validate-every', String(steps), '--output', output,
    ...Object.entries(config).flatMap(([key, value]) => ['--set', `${key}=${value}`])]);
  const seconds = (performance.now() - begin) / 1000;
  const reports = readFileSync(join(output, 'log.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  return { seconds, bleu: reports.findLast(({ bleu }) => bleu !== undefined).bleu };
}

/** `learnInPage`: trains in a page and returns what each validation found. */
export async function minutes(corpus, figures, goals, { learnInPage, wanted, log }) {
  const add = (title, value) => figures.set(title, [...(figures.get(title) ?? []), value]);
  const note = (title, { seconds, bleu }) => {
    log(`${title}: ${seconds.toFixed(1)} s, BLEU ${bleu.toFixed(1)}`);
    add(`seconds, ${title}`, seconds);
    add(`BLEU, ${title}`, bleu);
  };
  const yardstick = 'Multi30k, 1,250 steps as before: native';
  const targets = Object.entries(recipes);
  const title = (bleu, who) => `Multi30k to ${bleu} BLEU: ${who}`;
  if (!targets.some(([bleu]) => wanted(title(bleu, 'native')) || wanted(title(bleu, 'Chromium')))) return;
  const file = join(folder, 'minutes.tsv.gz');
  const hold = writePairs(corpus, file);
  note(yardstick, trainNatively(corpus, { steps: 1250, config: before }, seeds[0]));
  for (const [bleu, { steps, config, native, tab }] of targets) {
    for (const [who, share] of [['native', native], ['Chromium', tab]]) {
      const name = title(bleu, who);
      if (!wanted(name)) continue;
      for (const seed of seeds) {
        if (who === 'native') {
          note(name, trainNatively(corpus, { steps, config }, seed));
          continue;
        }
        const seen = await learnInPage({
          title: name, metric: 'bleu', hold, train: { file: '/build/bench/learning/minutes.tsv.gz' },
          options: { preset: 'multi30k-tiny', tokenizer: { type: 'bpe', vocabSize: vocabulary }, seed, config },
          run: { steps, validateEvery: steps },
        }, log);
        note(name, { seconds: seen.at(-1).wall, bleu: seen.at(-1).bleu });
      }
      goals.push({ of: `BLEU, ${name}`, to: [], goal: Number(bleu) });
      goals.push({ of: `seconds, ${name}`, to: [`seconds, ${yardstick}`], goal: share, atMost: true });
    }
  }
}
