// `npm run bench -- --newcomer`: the seconds of a newcomer's first ten minutes, with the code blocks of the quick start as
// they are: a plain page, Vite, Node, Deno and Bun; and Next.js.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeModelPackages } from '../../bindings/tools/model-packages.mjs';
import { root } from '../../bindings/tools/shell.mjs';
import { launch } from '../e2e/support.mjs';
import { blocks } from '../guides.mjs';

const model = 'models/de-en.safetensors', translation = "Where's my book?";
const guide = 'bindings/docs/quick-start.md';
const [plainPage, vitePage] = blocks(guide, 'html');
const copies = blocks(guide, 'sh').find((commands) => commands.startsWith('cp '));
const program = blocks(guide, 'js').find((code) => code.includes("load('de-en')"));
const nextPage = `'use client';
import { useEffect, useState } from 'react';
export default function Page() {
  const [text, setText] = useState('Loading the model');
  useEffect(() => {
    (async () => {
      const { Translator } = await import('wasmformer');
      const translator = await Translator.load('${model}');
      setText((await translator.translate('Wo ist mein Buch?')).text);
    })();
  }, []);
  return <p>{text}</p>;
}
`;

/** Runs a command to its end; returns what it printed. */
function run(folder, command, ...args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error ?? ''}${stdout}${stderr}`);
  return stdout;
}

function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function putModel(folder) {
  mkdirSync(join(folder, 'models'), { recursive: true });
  cpSync(join(root, 'web/public', model), join(folder, model));
}

/** Starts a server in `folder`, waits until its page shows the translation in Chromium, and stops both. */
async function shows(folder, port, ...command) {
  const server = spawn(command[0], [...command.slice(1), String(port)], { cwd: folder, stdio: 'ignore', detached: true });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    const end = Date.now() + 60_000;
    const isOpen = () => page.goto(`http://localhost:${port}/`).then((answer) => answer.ok(), () => false);
    while (!(await isOpen()) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
    await page.getByText(translation).waitFor();
  } finally {
    process.kill(-server.pid);
    await browser.close();
  }
}

async function plain(folder, packages, timed) {
  await timed('plain page: npm install of the packages, copy both, paste the page', () => {
    put(join(folder, 'package.json'), '{ "private": true }');
    run(folder, 'npm', 'install', ...packages);
    run(folder, 'bash', '-euc', copies);
    put(join(folder, 'index.html'), plainPage);
  });
  await timed('plain page: a server starts, Chromium shows the translation', () => shows(folder, 8801, 'python3', '-m', 'http.server'));
}

async function vite(folder, packages, timed) {
  const create = ['create', '-y', 'vite@latest', 'vite', '--', '--template', 'vanilla', '--no-interactive'];
  await timed('Vite: npm create vite', () => run(dirname(folder), 'npm', ...create));
  await timed('Vite: npm install', () => run(folder, 'npm', 'install'));
  await timed('Vite: npm install of the packages', () => run(folder, 'npm', 'install', ...packages));
  await timed('Vite: paste the page, start, Chromium shows the translation', async () => {
    put(join(folder, 'index.html'), vitePage);
    await shows(folder, 8802, 'npx', 'vite', '--port');
  });
  await timed('Vite: vite build', () => run(folder, 'npx', 'vite', 'build'));
  await timed('Vite: vite preview, Chromium shows the translation', () => shows(folder, 8803, 'npx', 'vite', 'preview', '--port'));
}

async function node(folder, packages, timed) {
  await timed('Node: npm init, npm install of the packages, paste the program', () => {
    mkdirSync(folder);
    run(folder, 'npm', 'init', '-y');
    run(folder, 'npm', 'install', ...packages);
    put(join(folder, 'main.mjs'), program);
  });
  const bin = (name) => join(root, 'node_modules/.bin', name);
  for (const [name, ...command] of [['node', process.execPath], ['deno', bin('deno'), 'run', '-A'], ['bun', bin('bun')]]) {
    await timed(`${name} main.mjs`, () => {
      const printed = run(folder, ...command, 'main.mjs');
      if (printed.trim() !== translation) throw new Error(`${name} printed ${printed}`);
    });
  }
}

async function next(folder, packages, timed) {
  await timed('Next.js: npm install of Next.js, React and the package', () => {
    put(join(folder, 'package.json'), '{ "private": true }');
    run(folder, 'npm', 'install', 'next@16', 'react', 'react-dom', ...packages);
  });
  await timed('Next.js: next build', () => {
    putModel(join(folder, 'public'));
    put(join(folder, 'app/layout.jsx'), 'export default ({ children }) => <html><body>{children}</body></html>;\n');
    put(join(folder, 'app/page.jsx'), nextPage);
    run(folder, 'npx', 'next', 'build');
  });
  await timed('Next.js: next start, Chromium shows the translation', () => shows(folder, 8804, 'npx', 'next', 'start', '--port'));
}

export async function measureNewcomer(figures, { wanted, log }) {
  const folder = mkdtempSync(join(tmpdir(), 'wasmformer-newcomer-'));
  const timed = async (name, work) => {
    log(name);
    const begin = performance.now();
    await work();
    figures.set(`seconds, ${name}`, [(performance.now() - begin) / 1000]);
  };
  try {
    run(root, 'npm', 'pack', '--ignore-scripts', '--pack-destination', folder);
    writeModelPackages(join(folder, 'models'));
    run(folder, 'npm', 'pack', '--ignore-scripts', join(folder, 'models/wasmformer-de-en'));
    const packages = readdirSync(folder).filter((name) => name.endsWith('.tgz')).map((name) => join(folder, name));
    for (const part of [plain, vite, node, next]) if (wanted(part.name)) await part(join(folder, part.name), packages, timed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
