// The bundled models as npm packages, wasmformer-de-en and others, each a folder and a packed file in build/model-packages.
// They are made like the detector's package, which is in the repository.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root, run, step } from './shell.mjs';

const models = join(root, 'web/public/models');
const detector = join(root, 'bindings/detect-model');
const detectorFile = 'detect.safetensors';

/** Integrity of all models, as npm writes it. */
const LICENSE = 'CC-BY-SA-4.0';

/** The names of the bundled translators: two codes of languages. */
const names = () => readdirSync(models).map((file) => basename(file, '.safetensors')).filter((name) => /^[a-z]{2,3}-[a-z]{2,3}$/.test(name)).sort();
const fileOf = (name) => `${name}.safetensors`;

/** The SHA-256 of each model by its name, as the option `integrity` takes it. */
export const digests = () => Object.fromEntries(names().map((name) => {
  const digest = createHash('sha256').update(readFileSync(join(models, fileOf(name)))).digest('base64');
  return [name, `sha256-${digest}`];
}));

/** Metadata of a model file, without settings and tokenizers. */
function cardOf(name) {
  const bytes = readFileSync(join(models, fileOf(name)));
  const length = Number(bytes.readBigUInt64LE());
  const { __metadata__: metadata } = JSON.parse(bytes.subarray(8, 8 + length));
  const isInside = (key) => /^(config|training|format|version)$|tokenizer/.test(key);
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isInside(key)));
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));
const toJson = (value) => `${JSON.stringify(value, undefined, 2)}\n`;

/** The version and the address of the main package, which those of the models have too. */
function common() {
  const { version, repository } = readJson(join(root, 'package.json'));
  return { version, ...(repository && { repository }) };
}

const nameOfLanguage = (code) => new Intl.DisplayNames(['en'], { type: 'language' }).of(code);

const readme = (name, about, { bleu, limits, licence }) => `# wasmformer-${name}

${about}, for the package \`wasmformer\`. The file has 4 bits per weight. In Node, Deno and Bun:

\`\`\`js
import { Translator } from 'wasmformer';

const translator = await Translator.load('${name}');
\`\`\`

In browsers, with a bundler, which gives the address of the file:

\`\`\`js
import { Translator } from 'wasmformer';
import model from 'wasmformer-${name}';

const translator = await Translator.load(model);
\`\`\`

In a page without a bundler, copy \`${name}.safetensors\` to a folder of your server, and give its address as \`modelsURL\`: \`Translator.load('${name}', { modelsURL: 'models' })\`.

BLEU: ${bleu}. ${limits}

\`card.json\` has all that the file says of itself, \`LICENSE\` the texts it was trained on. License: ${licence}.
`;

const license = (name, { licence, corpus }) => `The model ${fileOf(name)} is under ${LICENSE}:
https://creativecommons.org/licenses/by-sa/4.0/legalcode

It was trained on these texts:
${corpus}

Licenses of the model and of these texts: ${licence}
`;

/** Writes the package of a translator into the folder `place`. */
function writeTranslator(name, place) {
  const card = cardOf(name);
  const [source, target] = name.split('-').map(nameOfLanguage);
  const about = `A model that translates from ${source} into ${target}`;
  if (!card.licence.startsWith('CC BY-SA 4.0;')) throw new Error(`[model-packages] ${fileOf(name)} is under '${card.licence}', not ${LICENSE}`);
  // The same files, with another model in them.
  const likeDetector = (file) => readFileSync(join(detector, file), 'utf8').replaceAll(detectorFile, fileOf(name));
  const { exports, type, files } = JSON.parse(likeDetector('package.json'));
  const settings = {
    name: `wasmformer-${name}`, ...common(), description: about, keywords: ['machine-translation', 'wasmformer'],
    license: LICENSE, type, exports: { ...exports, './card.json': './card.json' }, files: [...files, 'card.json'],
  };
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), toJson(settings));
  for (const file of ['index.js', 'index.d.ts']) writeFileSync(join(place, file), likeDetector(file));
  writeFileSync(join(place, 'card.json'), toJson(card));
  writeFileSync(join(place, 'README.md'), readme(name, about, card));
  writeFileSync(join(place, 'LICENSE'), license(name, card));
  cpSync(join(models, fileOf(name)), join(place, fileOf(name)));
}

function writeDetector(place) {
  cpSync(detector, place, { recursive: true });
  writeFileSync(join(place, 'package.json'), toJson({ ...readJson(join(detector, 'package.json')), ...common() }));
}

/** Writes the package of each model into a folder of its own in `output`; returns the names of the packages. */
export function writeModelPackages(output) {
  for (const name of names()) writeTranslator(name, join(output, `wasmformer-${name}`));
  writeDetector(join(output, 'wasmformer-detect'));
  return [...names(), 'detect'].map((name) => `wasmformer-${name}`);
}

/** build/model-packages: the folders, and beside each the file that npm publishes. The folder is whole or absent. */
export function packModels() {
  step('Packing the models into build/model-packages');
  const output = join(root, 'build/model-packages');
  const unfinished = `${output}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  for (const name of writeModelPackages(unfinished)) {
    const args = ['pack', '--silent', '--ignore-scripts', '--offline', '--no-update-notifier', '--pack-destination', unfinished];
    run('npm', args, { cwd: join(unfinished, name), stdio: ['ignore', 'ignore', 'inherit'] });
  }
  rmSync(output, { recursive: true, force: true });
  renameSync(unfinished, output);
}

/** Files that the packages are made from, for isStale. */
export const modelSources = ['web/public/models', 'bindings/detect-model', 'bindings/tools/model-packages.mjs', 'package.json'];
