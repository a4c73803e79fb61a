// Translations by an earlier model, made by the program and kept in shards, so that an interrupted preparation goes on.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const linesPerShard = 4000;
export const digest = (data) => createHash('sha256').update(data).digest('hex');

function writeWhole(file, text) {
  writeFileSync(`${file}.unfinished`, text);
  renameSync(`${file}.unfinished`, file);
}

/** The hypotheses of each line, from lines such as "0 ||| text ||| score". */
function grouped(found, count) {
  const own = Array.from({ length: count }, () => []);
  for (const line of found) {
    const [number, text] = line.split(' ||| ');
    own[Number(number)].push(text);
  }
  return own;
}

function runProgram({ program, threads }, lines, model, { beam, best }) {
  const flags = ['--model', model, '--beam-size', beam, '--threads', threads, ...best > 1 ? ['--n-best', best] : []];
  const input = lines.map((line) => `${line}\n`).join('');
  const streams = { input, maxBuffer: 2 ** 30, stdio: ['pipe', 'pipe', 'inherit'] };
  return execFileSync(program, ['translate', ...flags.map(String)], streams);
}

/** A function that translates lines: each gets `best` hypotheses, the first being the best. */
export function translator({ program, cache, threads, log }) {
  const models = new Map();
  const identity = (model) => {
    if (!models.has(model)) models.set(model, digest(readFileSync(model)));
    return models.get(model);
  };

  function shard(lines, model, { beam, best }) {
    const file = join(cache, `${digest([identity(model), beam, best, ...lines].join('\n'))}.txt`);
    if (!existsSync(file)) {
      mkdirSync(cache, { recursive: true });
      writeWhole(file, runProgram({ program, threads }, lines, model, { beam, best }));
    }
    const found = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return best > 1 ? grouped(found, lines.length) : found.map((text) => [text]);
  }

  return (lines, model, { beam = 1, best = 1 } = {}) => {
    const translations = [];
    for (let begin = 0; begin < lines.length; begin += linesPerShard) {
      translations.push(...shard(lines.slice(begin, begin + linesPerShard), model, { beam, best }));
      log(`${translations.length} of ${lines.length} sentences translated`);
    }
    return translations;
  };
}

const tokens = (text) => text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
function counts(words, n) {
  const all = new Map();
  for (let i = 0; i + n <= words.length; ++i) {
    const gram = words.slice(i, i + n).join(' ');
    all.set(gram, (all.get(gram) ?? 0) + 1);
  }
  return all;
}

/** BLEU of a sentence, with one added to the counts of pairs and longer sequences (Lin and Och 2004). */
export function sentenceBleu(text, reference) {
  const [a, b] = [tokens(text), tokens(reference)];
  if (a.length === 0) return 0;
  let sum = 0;
  for (let n = 1; n <= 4; ++n) {
    const own = counts(a, n), theirs = counts(b, n);
    let shared = 0;
    for (const [gram, count] of own) shared += Math.min(count, theirs.get(gram) ?? 0);
    const smoothing = n > 1 ? 1 : 0;
    sum += Math.log((shared + smoothing || 1e-9) / (Math.max(a.length - n + 1, 0) + smoothing || 1));
  }
  return Math.exp(sum / 4 + Math.min(0, 1 - b.length / a.length));
}

/** The hypothesis that is nearest to the reference. */
export function nearest(hypotheses, reference) {
  const scores = hypotheses.map((text) => sentenceBleu(text, reference));
  return hypotheses[scores.indexOf(Math.max(...scores))];
}
