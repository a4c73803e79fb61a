// The recipe of a server with Node: texts in several languages, errors, clients that go away, the end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { answerOf, project, recipe } from './support.mjs';

const root = join(import.meta.dirname, '../..');
const mixed = 'Wo ist mein Buch?\n\nOù est mon livre ? Hvad hedder du?';

/** The server's process, and its answer to a body: the status and the text. */
async function start(t) {
  const place = project('server', { 'server.mjs': recipe('server.mjs') }, [join(root, 'bindings/detect-model')]);
  for (const name of ['de-en', 'fr-en']) cpSync(join(root, `web/public/models/${name}.safetensors`), join(place, `models/${name}.safetensors`));
  const port = 40_000 + process.pid % 10_000;
  const address = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, ['server.mjs'], { cwd: place, env: { ...process.env, PORT: String(port) }, stdio: 'inherit' });
  t.after(() => server.kill('SIGKILL'));
  await answerOf(address);
  const ask = async (body, signal) => {
    const answer = await fetch(address, { method: 'POST', body, signal });
    return [answer.status, await answer.json()];
  };
  return { server, ask };
}

test('the server of the recipes translates, says what is wrong, stops what nobody waits for, and ends in order', async (t) => {
  const { server, ask } = await start(t);
  const [status, { text, languages }] = await ask(JSON.stringify({ text: mixed }));
  assert.deepEqual([status, languages], [200, ['de', 'fr', 'da']]);
  assert.equal(text, "Where's my book?\n\nWhere's my book? Hvad hedder du?");

  const refused = [JSON.stringify({ text: 5 }), 'null', '{', JSON.stringify({ text: 'a'.repeat(100_000) })];
  const answers = await Promise.all(refused.map((body) => ask(body)));
  assert.deepEqual(answers.map(([status, { code }]) => [status, code]), [[400, 'translate'], [400, 'translate'], [400, undefined], [413, undefined]]);

  const long = JSON.stringify({ text: 'Das Wetter ist heute schön, aber morgen soll es regnen. '.repeat(1500) });
  const gone = new AbortController();
  const waiting = assert.rejects(ask(long, gone.signal), { name: 'AbortError' });
  await setTimeout(1000);
  gone.abort();
  await waiting;
  const begin = performance.now();
  await ask(JSON.stringify({ text: mixed }));
  const seconds = (performance.now() - begin) / 1000;
  assert.ok(seconds < 5, `the next answer took ${seconds} s`);

  const last = ask(JSON.stringify({ text: 'Ich habe einen Hund. '.repeat(50) }));
  await setTimeout(200);
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  assert.equal((await last)[0], 200);
  assert.deepEqual(await ended, [0, null]);
});
