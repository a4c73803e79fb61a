// Part of `npm run bench -- --page`: how long a visitor with an empty cache waits for the first translation of a sentence
// of their own, over slow lines.
import { createServer, connect } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { builtPage, launch } from '../e2e/support.mjs';

const SENTENCE = 'Wo ist der Bahnhof?';
const TRANSLATION = /station/i;
const ROUND_TRIP = 150; // ms
const CHUNK = 16_384; // bytes

/** A line to a port: all connections together get so many bits a second, and each request is a round trip late. */
async function slowLine(port, bitsPerSecond) {
  let free = 0; // when the line has sent what it was given
  const occupy = (bytes) => {
    free = Math.max(free, performance.now()) + (8000 * bytes) / bitsPerSecond;
    return setTimeout(free - performance.now());
  };
  async function *throttled(source) {
    for await (const data of source) {
      for (let at = 0; at < data.length; at += CHUNK) {
        const part = data.subarray(at, at + CHUNK);
        await occupy(part.length);
        yield part;
      }
    }
  }
  async function *late(source) {
    for await (const data of source) {
      await setTimeout(ROUND_TRIP);
      yield data;
    }
  }
  const line = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    // A browser that is closed breaks off its connections.
    pipeline(client, late, server).catch(() => server.destroy());
    pipeline(server, throttled, client).catch(() => client.destroy());
  });
  await new Promise((resolve) => line.listen(0, '127.0.0.1', resolve));
  return line;
}

/** Seconds from opening the page to the translation of a sentence that is typed as soon as there is a box for it. */
export async function firstTranslation(megabits) {
  const { server, address } = await serve(builtPage, 0, pageHeaders);
  const line = await slowLine(new URL(address).port, megabits * 1e6);
  const browser = await launch();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    const begin = performance.now();
    await page.goto(`http://localhost:${line.address().port}/`, { waitUntil: 'commit' });
    await page.locator('#source').fill(SENTENCE);
    const typed = performance.now();
    await page.locator('.target').filter({ hasText: TRANSLATION }).waitFor();
    const translated = performance.now();
    return { typed: (typed - begin) / 1000, translated: (translated - begin) / 1000 };
  } finally {
    await browser.close();
    line.close();
    server.close();
  }
}
