// Writes bindings/js/generated: the TypeScript types of what C++ declares. The files are in the repository, so that editors
// and tsc need no build; the package's build renews options.ts. To renew all:
// `ninja -C build/wasm wasmformer_types && node bindings/tools/generate-types.mjs`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digests } from './model-packages.mjs';
import { main, root } from './shell.mjs';

const note = 'Written by bindings/tools/generate-types.mjs. Do not edit.';

/** Text as a comment, wrapped at 120 characters. */
function comment(text, indent) {
  const single = `${indent}/** ${text} */\n`;
  if (single.length <= 121) return single;
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && `${indent} * ${last} ${word}`.length <= 120) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

const quoted = (words) => words.map((word) => `'${word}'`).join(' | ');

/** Names in TypeScript of groups and of the items of lists. */
const groups = { sampling: 'SamplingOptions', maskedHeads: 'AttentionHead', glossary: 'GlossaryTerm', augment: 'Augmentation' };
/** Strings of C++ that JavaScript has as something else. */
const otherTypes = { preset: 'PresetName', metadata: 'Record<string, string>', keep: 'readonly KeepName[]' };

function typeOf({ name, type, choices, item }) {
  if (otherTypes[name]) return otherTypes[name];
  if (type === 'choice') return quoted(choices);
  if (type === 'group') return groups[name];
  if (type === 'integer') return 'number';
  if (type === 'object') return `Record<string, ${item ? typeOf({ ...item, name }) : 'unknown'}>`;
  if (type === 'string or tokens') return 'string | readonly number[]';
  if (type === 'list') return `readonly ${typeOf({ ...item, name })}[]`;
  return type;
}

/** The schema's sentence, the default, and what is to be said in JavaScript besides. */
function documentation(option, notes) {
  const { name, help, default: start, type, choices = [] } = option;
  const [first] = help.split(/\W/);
  const begin = choices.includes(first) ? `'${first}'` : first[0].toUpperCase() + first.slice(1);
  const sentence = `${begin}${help.slice(first.length)}.`;
  const isShown = start !== undefined && start !== '' && ['boolean', 'integer', 'number'].includes(type) && name !== 'maxLength';
  return [sentence, notes.isDefaultShown && isShown && `Default ${start}.`, notes.more[name]].filter(Boolean).join(' ');
}

// With TypeScript's exactOptionalPropertyTypes, an option that may be missing is not one that may be undefined.
const orUndefined = ' | undefined';

function interfaceOf(name, about, options, notes) {
  const members = options.map((option) => {
    const text = documentation(option, notes);
    const isNeeded = notes.isRequired || notes.required?.includes(option.name);
    const type = `${typeOf(option)}${isNeeded ? '' : orUndefined}`;
    const member = `${comment(text, '  ')}  ${option.name}${isNeeded ? '' : '?'}: ${type};\n`;
    if (!option.alias) return member;
    return `${member}${comment(`@deprecated use ${option.name}`, '  ')}  ${option.alias}?: ${typeOf(option)}${orUndefined};\n`;
  });
  return `${comment(about, '')}export interface ${name} {\n${members.join('')}}\n`;
}

/** The options with their help in the words of JavaScript: the sentences name other options as C++ does. */
function inCamelCase(options) {
  const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const names = new Map(options.map(({ name }) => [snake(name), name]));
  return options.map((option) => ({ ...option, help: option.help.replace(/\b[a-z]+_[a-z_]+\b/g, (word) => names.get(word) ?? word) }));
}

/** The text of generated/options.ts. */
export function optionTypes(description) {
  const more = JSON.parse(readFileSync(join(root, 'bindings/tools/option-notes.json')));
  const fieldsOf = (options, name) => {
    const { fields, item } = options.find((option) => option.name === name);
    return fields ?? item.fields;
  };
  const { config, translate, annotate, evaluate, run, request, presets, tasks } = description;
  const isOfTraining = ({ name }) => description.training.includes(name);
  const ofConfig = (which) => ({ isRequired: true, more: more[which] ?? {} });
  const ofCall = (which, required = []) => ({ isDefaultShown: true, more: more[which] ?? {}, required });
  // Their types are JavaScript's own, or they are not the caller's to give.
  const others = ['config', 'task', 'validation', 'tokenizer', 'resume', 'keepTexts'];
  return `// ${note}
// Length: every option of the package.

${comment('The sizes and settings that a run can begin with.', '')}export type PresetName = ${quoted(presets.map(({ name }) => name))};

${comment('The made-up tasks, with any number of pairs; attention shows how the model solves them.', '')}export type TaskName = ${quoted(tasks.map(({ name }) => name))};

${interfaceOf('ModelConfig', 'The hyper-parameters of a model, with the names they have in the model file.', config.filter((option) => !isOfTraining(option)), ofConfig('model'))}
${interfaceOf('TrainingConfig', 'How the weights are changed (section 5 of the paper).', config.filter(isOfTraining), ofConfig('training'))}
${comment('Kinds of text that can be copied instead of translated.', '')}export type KeepName = ${quoted(translate.find(({ name }) => name === 'keep').item.choices)};

${interfaceOf('SamplingOptions', 'How tokens are drawn instead of searching for the best.', fieldsOf(translate, 'sampling'), ofCall('sampling'))}
${interfaceOf('AttentionHead', 'One attention head.', fieldsOf(translate, 'maskedHeads'), { isRequired: true, more: {} })}
${interfaceOf('GlossaryTerm', 'A term that translations must use.', fieldsOf(translate, 'glossary'), { isRequired: true, more: {} })}
${interfaceOf('TranslateFields', 'Options of TranslateOptions that the module takes.', translate.filter(({ name }) => name !== 'keptRanges'), ofCall('translate'))}
${interfaceOf('AnnotateFields', 'Options of AnnotateOptions that the module takes.', annotate, ofCall('annotate'))}
${interfaceOf('EvaluateFields', 'Options of EvaluateOptions that the module takes.', evaluate, ofCall('evaluate'))}
${interfaceOf('RunFields', 'Options of RunOptions that the module takes.', inCamelCase(run), ofCall('run'))}
${interfaceOf('TokenizerSettings', 'A tokenizer made from the training pairs.', fieldsOf(request, 'tokenizer'), ofCall('tokenizer', ['type']))}
${interfaceOf('Augmentation', 'Changed copies that are added to the pairs to train on; each number is how many per pair of the text.', fieldsOf(request, 'augment'), ofCall('augment'))}
${interfaceOf('RequestFields', 'Options of TrainerOptions that the module takes.', request.filter(({ name }) => !others.includes(name)), ofCall('request'))}`;
}

// Emscripten lists every form in which C++ takes a string; this package passes strings.
const plainTypes = (text) => text.replaceAll('EmbindString', 'string').replace(/\bany\b/g, 'unknown');

/** A member on one line, or with each parameter on a line of its own if it is longer than 120 characters. */
function member(text) {
  const line = `  ${text};\n`;
  const eachOnALine = (parameters) => parameters.replaceAll(', _', ',\n    _');
  return line.length <= 121 ? line : line.replace(/\((.*)\)/, (_, all) => `(\n    ${eachOnALine(all)},\n  )`);
}

const membersOf = (body) =>
  body.split('\n').map((line) => line.trim().replace(/[,;]$/, '')).filter(Boolean).map(member).join('');
// Emscripten lists classes here too, which have nothing that JavaScript could call.
const isClass = (member) => /^\s*\w+: \{\}[;,]?$/.test(member);

// From build to build Emscripten writes functions, and what they need, in different orders.
const sorted = (lines) => lines.split('\n').sort().join('\n');

/** For each module, by its name in build/wasm/types: the file of its types, the interface and its comment. */
export const modules = {
  wasmformer: { file: 'module.ts', name: 'NativeModule', about: 'The functions of the module.' },
  extras: { file: 'extras.ts', name: 'NativeExtras', about: 'The functions of the extras module.' },
};

/** Returns the text of a file of generated/, made from the declarations that Emscripten wrote for bindings/*.cpp. */
export function moduleTypes(written, { name, about }) {
  const interfaces = [...written.matchAll(/^export (?:interface (\w+) |type (\w+) = )\{\n(.*?)\n\};?$/gms)]
    .map(([, object, value, body]) => `export interface ${object ?? value} {\n${membersOf(plainTypes(object ? sorted(body) : body))}}\n`)
    .sort();
  const [, functions] = /^interface EmbindModule \{\n(.*?)\n\}$/ms.exec(written);
  const members = sorted(functions.split('\n').filter((member) => !isClass(member)).join('\n'));
  return `// ${note}\n\n${interfaces.join('\n')}\n${comment(about, '')}export interface ${name} {\n${membersOf(plainTypes(members))}}\n`;
}

const at = (name) => join(root, 'bindings/js/generated', name);

/** Writes a file if it differs; returns whether it did. */
function renew(name, text) {
  if (existsSync(at(name)) && readFileSync(at(name), 'utf8') === text) return false;
  writeFileSync(at(name), text);
  return true;
}

/** Renews the types of the options; returns whether they have changed. */
export const renewOptionTypes = (description) => renew('options.ts', optionTypes(description));

/** Renews the version, which package.json has. */
export function renewVersion() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return renew('version.ts', `// ${note}\n\n${comment('The version of this package.', '')}export const version: string = '${version}';\n`);
}

/** Renews the digests of the bundled models. */
export function renewModels() {
  const lines = Object.entries(digests()).map(([name, digest]) => `  '${name}': '${digest}',\n`).join('');
  const about = comment('The bundled models by name, with the SHA-256 of their files.', '');
  return renew('bundled-models.ts', `// ${note}\n\n${about}export const bundledModels: Readonly<Record<string, string>> = {\n${lines}};\n`);
}

await main(import.meta.url, () => {
  renewVersion();
  renewModels();
  renewOptionTypes(JSON.parse(readFileSync(join(root, 'dist/options.json'))));
  for (const [written, module] of Object.entries(modules))
    renew(module.file, moduleTypes(readFileSync(join(root, `build/wasm/types/${written}.d.ts`), 'utf8'), module));
});
