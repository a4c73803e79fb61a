// Mozilla's lists of the students that Firefox translates with: models.json, Remote Settings records, registry.json.
import { differingLetters, isNumber, isObject } from '../shared/checks.js';
import { WasmformerError } from '../shared/errors.js';
import type { ListData, ModelData } from '../shared/protocol.js';
import type { ListedModel } from '../shared/types.js';
import { integrityOf, nameOf } from './download.js';
import { readJson } from './decompress.js';

// The files of a student that are needed: what the lists call them, and our names.
const parts = { model: 'model.bin', lex: 'lex.bin', lexicalshortlist: 'lex.bin', vocab: 'vocab.spm', srcvocab: 'srcvocab.spm', trgvocab: 'trgvocab.spm' };
const attachments = 'https://firefox-settings-attachments.cdn.mozilla.net/';
const object = (value: unknown) => (isObject(value) ? value : {}) as Record<string, unknown>;
const objects = (value: unknown) => (Array.isArray(value) ? value : []).map(object);
const text = (value: unknown) => (typeof value === 'string' ? value : '');
type Model = Pick<ListedModel, 'from' | 'to' | 'architecture' | 'version'>;

// Major versions of records whose models this package reads: Firefox has raised them for languages without spaces and
// larger models (2), and for other compression (3). What a later one will change is not known.
const knownMajors = [1, 2, 3];

/** A file of a model as a list has it; what is not checked yet is unknown. */
interface FoundFile {
  /** Its model; files of one model have the same, and the same `id`. */
  model: Model;
  id: number;
  /** Name of the file's kind in the list, such as 'lex'. */
  part: string;
  path: unknown;
  /** Base of `path`, if it is not relative to the list. */
  base?: unknown;
  /** Bytes to be downloaded. */
  length?: unknown;
  /** Bytes of the unpacked file. */
  bytes?: unknown;
  sha256: unknown;
}

/** models.json: lists of models by their languages, such as 'de-en'. */
function *filesInModelsJson(json: Record<string, unknown>): Generator<FoundFile> {
  const base = `${text(json.baseUrl)}/`;
  for (const [pair, models] of Object.entries(object(json.models))) {
    const [from, to] = pair.split('-');
    for (const [id, found] of objects(models).entries()) {
      const model = {
        from: text(found.sourceLanguage ?? from),
        to: text(found.targetLanguage ?? to),
        architecture: text(found.architecture),
        version: text(found.releaseStatus),
      };
      for (const [part, file] of Object.entries(object(found.files))) {
        const { path, uncompressedSize, uncompressedHash } = object(file);
        yield { model, id, part, path, base, bytes: uncompressedSize, sha256: uncompressedHash };
      }
    }
  }
}

/** Records of Remote Settings: one a file. */
function *filesInRecords(json: Record<string, unknown>): Generator<FoundFile> {
  for (const { attachment, ...found } of objects(json.data)) {
    const { location, size, hash } = object(attachment);
    const model = {
      from: text(found.sourceLanguage ?? found.fromLang),
      to: text(found.targetLanguage ?? found.toLang),
      architecture: text(found.architecture),
      version: text(found.version),
    };
    const sha256 = found.decompressedHash ?? hash;
    yield { model, id: 0, part: text(found.fileType), path: location, base: attachments, length: size, sha256 };
  }
}

/** registry.json: files by languages without a separator, such as 'deen'; one of them is English or both have two letters. */
function *filesInRegistry(json: Record<string, unknown>): Generator<FoundFile> {
  for (const [pair, files] of Object.entries(json)) {
    const [from, to] = /^(en)(\w+)$|^(\w+)(en)$|^(\w\w)(\w\w)$/.exec(pair)?.slice(1).filter(Boolean) ?? [];
    if (from === undefined || to === undefined) continue;
    const version = text(object(object(files).model).modelType);
    for (const [part, file] of Object.entries(object(files))) {
      const { name, size, expectedSha256Hash } = object(file);
      const isPacked = text(name).endsWith('.gz');
      const model = { from, to, architecture: '', version };
      const length = isPacked ? undefined : size;
      yield { model, id: 0, part, path: name, length, bytes: size, sha256: expectedSha256Hash };
    }
  }
}

/** The files of all models, whichever of the three a list is. */
function *filesIn(json: Record<string, unknown>): Generator<FoundFile> {
  yield* filesInModelsJson(json);
  yield* filesInRecords(json);
  yield* filesInRegistry(json);
}

// 3.0 ranks above 3.0a1, and a release above anything unreleased.
const rank = (version: string) => (/^\d[\d.]*$/.test(version) ? `${version}z` : version.replace(/^Release.*/, 'z'));
const byPair = (a: Model, b: Model) =>
  `${a.from}-${a.to}`.localeCompare(`${b.from}-${b.to}`) || rank(b.version).localeCompare(rank(a.version), 'en', { numeric: true });

/** Adds a file to its model, if translating needs it; `list` is where relative addresses begin. */
function addFile(
  model: ListedModel, { part, path, base, length, bytes = length, sha256 }: FoundFile, list: ModelData,
): void {
  const name = object(parts)[part.toLowerCase()];
  if (!name) return;
  const from = text(base) || (list.kind === 'url' ? list.url : undefined);
  const url = URL.canParse(text(path), from) ? new URL(text(path), from).href : text(path);
  const ending = /\.(gz|zst)$/.exec(url)?.[0] ?? '';
  model.bytes += Number(length ?? bytes) || 0;
  model.files[`${name}${ending}`] = {
    url,
    ...(isNumber(length) && { length }),
    ...(text(sha256) && { integrity: integrityOf(text(sha256)) }),
  };
}

/** Returns whether the files suffice to translate: the weights, and one vocabulary or one for each side. */
function isComplete({ files }: ListedModel): boolean {
  const names = Object.keys(files).map((name) => name.replace(/\.(gz|zst)$/, ''));
  const has = (name: string) => names.includes(name);
  return has('model.bin') && (has('vocab.spm') || (has('srcvocab.spm') && has('trgvocab.spm')));
}

/** The major version of a record's model, if it has one that is not known. */
function unknownMajor({ version }: Model): number | undefined {
  const major = /^\d+/.exec(version)?.[0];
  return major === undefined || knownMajors.includes(Number(major)) ? undefined : Number(major);
}

/** The models of a list, sorted by language pair, the best of each pair first. */
export const readList = async (list: ModelData): Promise<ListedModel[]> => readable(list, await completeModels(list));

/** Models whose version is known; throws if none is. */
function readable(list: ModelData, models: ListedModel[]): ListedModel[] {
  const known = models.filter((model) => unknownMajor(model) === undefined);
  if (known.length > 0) return known;
  const { from, to, version } = models[0]!;
  const [name, major] = [nameOf(list), unknownMajor(models[0]!)!];
  const sentence = `the model ${from}-${to} in ${name} has version ${version}; this package reads versions ${knownMajors[0]} to ${knownMajors.at(-1)}, `
    + 'so a newer package may be needed';
  throw new WasmformerError('list-version', sentence, { room: 'models', details: { name, pair: `${from}-${to}`, version, major } });
}

/** All models of a list whose files suffice, sorted in the same way. */
async function completeModels(list: ModelData): Promise<ListedModel[]> {
  const all = new Map<string, ListedModel>();
  for (const file of filesIn(await readJson(list))) {
    const key = JSON.stringify([file.model, file.id]);
    const model = all.get(key) ?? { ...file.model, bytes: 0, files: {} };
    all.set(key, model);
    addFile(model, file, list);
  }
  const complete = [...all.values()].filter(isComplete);
  if (complete.length > 0) return complete.sort(byPair);
  const name = nameOf(list);
  throw new WasmformerError(
    'list-empty', `${name} has no models; Mozilla's models.json, registry.json and Remote Settings records can be read`,
    { room: 'models', details: { name } },
  );
}

/** The best model of a list for a language pair and, if given, an architecture. */
export async function listedModel({ list, architecture, ...pair }: ListData): Promise<ListedModel> {
  const all = await completeModels(list);
  const ofPair = all.filter(({ from, to }) => from === pair.from && to === pair.to);
  if (ofPair.length > 0) readable(list, ofPair);
  const models = readable(list, all);
  const title = (of: Partial<ListedModel>) => `${of.from}-${of.to} ${architecture === undefined ? '' : of.architecture}`.trimEnd();
  const wanted = title({ ...pair, architecture });
  const found = models.find((model) => title(model) === wanted);
  if (found) return found;
  const languagesShared = ({ from, to }: Model) => Number(from === pair.from) + Number(to === pair.to);
  const distance = (model: Model) => differingLetters(title(model), wanted);
  const [nearest] = models.sort((a, b) => languagesShared(b) - languagesShared(a) || distance(a) - distance(b));
  throw new WasmformerError('models', `${nameOf(list)} has no model ${wanted}; the nearest is ${title(nearest!)}`);
}
