// Chromium, Firefox and WebKit behind one small interface: Chromium by Playwright, Firefox by WebDriver BiDi, and
// WebKitGTK's MiniBrowser by WebDriver, on a screen of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { firefox } from '../../bindings/tools/setup.mjs';
import { launch as launchPlaywright } from '../e2e/support.mjs';

const patience = 600_000; // the machine may be busy, and WebKit trains with one thread

/**
 * A browser with one tab. Each kind adds `version`, `open(address)`, `resize(width, height)`, `close()`, `run(script)`, where the
 * script evaluates to a promise of a string, and either `perform(actions)` or its own `press` and `keys`.
 */
class Browser {
  /** Calls `body` in the page; arguments and result travel as JSON. */
  async evaluate(body, ...args) {
    const values = args.map((value) => JSON.stringify(value)).join(', ');
    return JSON.parse(await this.run(`Promise.resolve((${body})(${values})).then((value) => JSON.stringify(value ?? null))`));
  }

  /** Waits until `predicate` holds in the page, and returns what it gave. */
  async until(predicate, ...args) {
    for (const end = Date.now() + patience; Date.now() < end; await setTimeout(100)) {
      const value = await this.evaluate(predicate, ...args);
      if (value) return value;
    }
    throw new Error(`never: ${predicate} of ${JSON.stringify(args)}; the page says: ${await this.evaluate(() => document.body.innerText)}`);
  }

  /** Clicks the middle of the first element that `selector` finds, with `text` in it, as a mouse does, once it stays in its place. */
  async click(selector, text = '') {
    const [x, y] = await this.until(async (selector, text) => {
      const found = [...document.querySelectorAll(selector)].find((element) => element.textContent.includes(text));
      if (!found || found.disabled) return false;
      found.scrollIntoView({ block: 'center', behavior: 'instant' });
      const middle = () => {
        const { left, top, width, height } = found.getBoundingClientRect();
        return [Math.round(left + width / 2), Math.round(top + height / 2)];
      };
      const before = middle();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [x, y] = middle();
      const hit = document.elementFromPoint(x, y);
      return x === before[0] && y === before[1] && (found.contains(hit) || hit?.contains(found)) && [x, y];
    }, selector, text);
    await this.press(x, y);
  }

  /** Replaces the text in the box by `text`, typed. */
  async type(selector, text) {
    await this.click(selector);
    await this.evaluate((selector) => document.querySelector(selector).select(), selector);
    await this.keys(text);
  }

  press(x, y) {
    const actions = [{ type: 'pointerMove', x, y }, { type: 'pointerDown', button: 0 }, { type: 'pointerUp', button: 0 }];
    return this.perform([{ type: 'pointer', id: 'mouse', actions }]);
  }

  keys(text) {
    const actions = [...text].flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));
    return this.perform([{ type: 'key', id: 'keyboard', actions }]);
  }
}

class Chromium extends Browser {
  static async launch() {
    const process = await launchPlaywright();
    const page = await (await process.newContext()).newPage();
    page.setDefaultTimeout(patience);
    return Object.assign(new Chromium(), { process, page, version: process.version() });
  }

  open = (address) => this.page.goto(address);
  resize = (width, height) => this.page.setViewportSize({ width, height });
  run = (script) => this.page.evaluate(script);
  press = (x, y) => this.page.mouse.click(x, y);
  keys = (text) => this.page.keyboard.type(text);
  close = () => this.process.close();
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

/** Starts a program that ends with this one, or when `stop` is called. */
function start(program, args, options) {
  const child = spawn(program, args, options);
  const ended = once(child, 'exit');
  const kill = () => child.kill();
  process.once('exit', kill);
  ended.then(() => process.off('exit', kill), () => {}); // if it could not be started, said() reports it
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { child, stop };
}

/** The first match of `pattern` in the lines of a program's output. */
async function said(program, stream, pattern) {
  const failed = once(program.child, 'error').then(([error]) => Promise.reject(error));
  const found = (async () => {
    for await (const line of createInterface({ input: stream })) {
      const match = pattern.exec(line);
      if (match) return match;
    }
    throw new Error(`${program.child.spawnfile} ended before it was ready`);
  })();
  return Promise.race([found, failed]).finally(() => stream.resume());
}

class Firefox extends Browser {
  static async launch() {
    const profile = mkdtempSync(join(tmpdir(), 'wasmformer-firefox-'));
    const size = ['--width', '1366', '--height', '900'];
    const program = start(firefox(), ['--headless', ...size, '--no-remote', '--profile', profile, '--remote-debugging-port', '0',
      '--remote-allow-system-access'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [, address] = await said(program, program.child.stderr, /BiDi listening on (ws:\S+)/);
    const self = Object.assign(new Firefox(), { program, profile, socket: new WebSocket(`${address}/session`), sent: [] });
    await once(self.socket, 'open');
    self.socket.on('message', (text) => {
      const { id, type, result, error, message } = JSON.parse(text);
      if (type === 'success') self.sent[id].resolve(result);
      else if (type === 'error') self.sent[id]?.reject(new Error(`${error}: ${message}`));
    });
    self.socket.on('close', () => self.sent.forEach(({ reject }) => reject(new Error('Firefox has ended'))));
    const { capabilities } = await self.send('session.new', { capabilities: {} });
    self.version = capabilities.browserVersion;
    await self.ignoreWorkers();
    [{ context: self.context }] = (await self.send('browsingContext.getTree', {})).contexts;
    return self;
  }

  /** Stops WebDriver's watching of workers: with it, a worker that starts another worker may wait forever (Firefox 153). */
  async ignoreWorkers() {
    const [{ context }] = (await this.send('browsingContext.getTree', { 'moz:scope': 'chrome' })).contexts;
    const watcher = 'chrome://remote/content/shared/js-process-actors/WebDriverWorkerListenerActor.sys.mjs';
    const expression = `ChromeUtils.importESModule('${watcher}').unregisterWebDriverWorkerListenerActor()`;
    await this.send('script.evaluate', { expression, target: { context }, awaitPromise: false });
  }

  send(method, params) {
    return new Promise((resolve, reject) => {
      const id = this.sent.push({ resolve, reject }) - 1;
      this.socket.send(JSON.stringify({ id, method, params: { ...(this.context && { context: this.context }), ...params } }));
    });
  }

  open = (url) => this.send('browsingContext.navigate', { url, wait: 'complete' });
  resize = (width, height) => this.send('browsingContext.setViewport', { viewport: { width, height } });
  perform = (actions) => this.send('input.performActions', { actions });
  async run(script) {
    const target = { context: this.context };
    const { type, result, exceptionDetails } =
      await this.send('script.evaluate', { expression: script, target, awaitPromise: true });
    if (type === 'exception') throw new Error(exceptionDetails.text);
    return result.value;
  }

  async close() {
    await this.program.stop();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

class WebKit extends Browser {
  static async launch() {
    const screen = start('Xvfb', ['-displayfd', '3', '-screen', '0', '1366x900x24', '-nolisten', 'tcp'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
    const [display] = await said(screen, screen.child.stdio[3], /\d+/);
    const port = await freePort();
    // Without LC_ALL=C the system's language decides; with it WebKit reports the language 'C'.
    const env = { ...process.env, DISPLAY: `:${display}`, LC_ALL: 'C' };
    const driver = start('WebKitWebDriver', [`--port=${port}`], { stdio: 'ignore', env });
    const self = Object.assign(new WebKit(), { programs: [driver, screen], address: `http://127.0.0.1:${port}/session` });
    const answers = () => fetch(self.address.replace(/session$/, 'status')).then(() => true, () => false);
    while (!(await answers())) await setTimeout(100);
    const { sessionId, capabilities } = await self.send('', { capabilities: {} });
    self.address += `/${sessionId}`;
    self.version = capabilities.browserVersion;
    await self.send('/timeouts', { script: patience, pageLoad: patience });
    return self;
  }

  async send(command, body, method = 'POST') {
    const response = await fetch(`${this.address}${command}`, { method, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  open = (url) => this.send('/url', { url });
  resize = (width, height) => this.send('/window/rect', { x: 0, y: 0, width, height }); // the window, at least 447 wide
  perform = (actions) => this.send('/actions', { actions });
  async run(script) {
    const { value, error } = await this.send('/execute/async', {
      script: `const done = arguments[0]; Promise.resolve().then(() => ${script}).then((value) => done({ value }), (error) => done({ error: String(error) }));`,
      args: [],
    });
    if (error) throw new Error(error);
    return value;
  }

  async close() {
    await this.send('', undefined, 'DELETE').catch(() => {}); // it may have crashed
    for (const program of this.programs) await program.stop();
  }
}

/** By name: launches a browser with one tab; it has `version`. */
export const browsers = { Chromium, Firefox, WebKit };
