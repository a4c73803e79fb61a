// Mozilla's lists of the students that Firefox translates with: models.json, records of Remote Settings, registry.json.
import { distance, isNumber, isObject } from '../shared/checks.js';
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
const model = (...[from, to, architecture, version]: unknown[]): Model =>
  ({ from: text(from), to: text(to), architecture: text(architecture), version: text(version) });
type FoundFile = Partial<Record<'path' | 'base' | 'length' | 'bytes' | 'sha256', unknown>>;

/** The files of all models. Those of one model have the same languages, architecture, version and `id`. */
function *filesIn(json: Record<string, unknown>): Generator<[of: Model, id: number, part: string, file: FoundFile]> {
  for (const [pair, models] of Object.entries(object(json.models))) {
    const [from, to] = pair.split('-');
    for (const [id, found] of objects(models).entries()) {
      const of = model(found.sourceLanguage ?? from, found.targetLanguage ?? to, found.architecture, found.releaseStatus);
      for (const [part, file] of Object.entries(object(found.files))) {
        const { path, uncompressedSize: bytes, uncompressedHash: sha256 } = object(file);
        yield [of, id, part, { path, base: `${text(json.baseUrl)}/`, bytes, sha256 }];
      }
    }
  }
  for (const { attachment, ...found } of objects(json.data)) {
    const { location: path, size: length, hash } = object(attachment);
    const of = model(found.sourceLanguage ?? found.fromLang, found.targetLanguage ?? found.toLang, found.architecture, found.version);
    yield [of, 0, text(found.fileType), { path, base: attachments, length, sha256: found.decompressedHash ?? hash }];
  }
  for (const [pair, files] of Object.entries(json)) {
    const [from, to] = /^(en)(\w+)$|^(\w+)(en)$|^(\w\w)(\w\w)$/.exec(pair)?.slice(1).filter(Boolean) ?? [];
    for (const [part, file] of to ? Object.entries(object(files)) : []) {
      const { name: path, size: bytes, expectedSha256Hash: sha256 } = object(file);
      const of = model(from, to, '', object(object(files).model).modelType);
      yield [of, 0, part, { path, length: text(path).endsWith('.gz') ? undefined : bytes, bytes, sha256 }];
    }
  }
}

// 3.0 ranks above 3.0a1, and a release above anything unreleased.
const rank = (version: string) => (/^\d[\d.]*$/.test(version) ? `${version}z` : version.replace(/^Release.*/, 'z'));
const byPair = (a: Model, b: Model) =>
  `${a.from}-${a.to}`.localeCompare(`${b.from}-${b.to}`) || rank(b.version).localeCompare(rank(a.version), 'en', { numeric: true });

/** The models of a list, sorted by language pair, the best of each pair first. */
export async function readList(list: ModelData): Promise<ListedModel[]> {
  const all = new Map<string, ListedModel>();
  for (const [of, id, part, { path, base, length, bytes = length, sha256 }] of filesIn(await readJson(list))) {
    const key = JSON.stringify([of, id]);
    const found = all.get(key) ?? { ...of, bytes: 0, files: {} };
    all.set(key, found);
    const name = object(parts)[part.toLowerCase()];
    if (!name) continue;
    const from = text(base) || (list.kind === 'url' ? list.url : undefined);
    const url = URL.canParse(text(path), from) ? new URL(text(path), from).href : text(path);
    found.bytes += Number(length ?? bytes) || 0;
    found.files[`${name}${/\.(gz|zst)$/.exec(url)?.[0] ?? ''}`] =
      { url, ...(isNumber(length) && { length }), ...(text(sha256) && { integrity: integrityOf(text(sha256)) }) };
  }
  const isWhole = ({ files }: ListedModel) => /model.*( vocab|srcvocab.*trgvocab)/.test(Object.keys(files).sort().join(' '));
  if ([...all.values()].some(isWhole)) return [...all.values()].filter(isWhole).sort(byPair);
  throw new Error(`[models] ${nameOf(list)} has no models; Mozilla's models.json, registry.json and records of Remote Settings can be read`);
}

/** The best model of a list for a language pair and, if given, an architecture. */
export async function listedModel({ list, architecture, ...pair }: ListData): Promise<ListedModel> {
  const models = await readList(list);
  const title = (of: Partial<ListedModel>) => `${of.from}-${of.to} ${architecture === undefined ? '' : of.architecture}`.trimEnd();
  const wanted = title({ ...pair, architecture });
  const nearest = models.reduce((best, model) => (distance(title(model), wanted) < distance(title(best), wanted) ? model : best));
  if (title(nearest) === wanted) return nearest;
  throw new Error(`[models] ${nameOf(list)} has no model ${wanted}; the nearest is ${title(nearest)}`);
}
