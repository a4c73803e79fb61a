// Data races: several threads train, translate, classify and tag in the builds of the preset sanitize-threads.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPreset } from '../../bindings/tools/build.mjs';
import { freshFolder, commands, path, prepareFiles } from './native.mjs';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'build/sanitize-threads');
const [program, tests] = [join(folder, 'wasmformer'), join(folder, 'tests/wasmformer_tests')];
const fixture = join(root, 'tests/fixtures/tiny-de-en.safetensors');
const model = (name) => join(root, 'web/public', name);
const sentences = ['Ich habe einen Hund.', 'Danke!', 'Wo ist mein Buch?', 'Heute ist das Wetter schön, aber morgen wird es regnen.', ''];

const training = (command, epochs, threads) => command.args(freshFolder(command), epochs)
  .map((word, i, all) => (all[i - 1] === '--threads' ? threads : word));

// What to run: a program and its arguments.
const ways = [
  (threads, seed) => [program, ...training(commands.train, '2', threads), '--seed', seed],
  (threads) => [program, ...training(commands.resume, '3', threads)],
  (threads) => [program, 'translate', '--model', fixture, '--input', path('sentences'), '--threads', threads],
  (threads, seed) => [program, 'translate', '--model', fixture, '--input', path('sentences'), '--threads', threads, '--beam-size', '1',
    '--top-k', '20', '--sample-seed', seed],
  (threads) => [program, 'translate', '--model', fixture, '--input', path('sentences'), '--threads', threads, '--attention', path('maps.json')],
  (threads) => [program, 'classify', '--model', model('encoders/snips.safetensors'), '--input', path('sentences'), '--threads', threads],
  (threads) => [program, 'tag', '--model', model('encoders/ewt.safetensors'), '--input', path('sentences'), '--threads', threads],
  ...['Several threads may use one translator', 'Threads join loops*', 'Many short loops*', "A body's exception*"].map((name) => () => [tests, name]),
];

export default {
  prepare({ isLong }) {
    if (isLong) buildPreset('sanitize-threads', ['wasmformer', 'wasmformer_tests']);
    if (!existsSync(program) || !existsSync(tests))
      console.log('races: the builds with the sanitizer are missing; run `cmake --preset sanitize-threads && cmake --build --preset sanitize-threads`');
    prepareFiles();
    mkdirSync(path('case'), { recursive: true });
    writeFileSync(path('sentences'), Array.from({ length: 60 }, (_, i) => `${sentences[i % sentences.length]}\n`).join(''));
  },
  cases: () => (existsSync(program) && existsSync(tests) ? Infinity : 0),
  attempt(i, random) {
    const [command, ...args] = ways[i % ways.length](String(2 + random(4)), String(random(1000)));
    const { status, signal, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 600_000,
      env: { ...process.env, TSAN_OPTIONS: 'halt_on_error=1' } });
    return status === 0 ? '' : `${args.join(' ')} ended with ${signal ?? status}: ${stderr.slice(0, 2000)}`;
  },
};
