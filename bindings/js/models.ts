// `npx wasmformer models LIST`: what is in a list of Mozilla's.
import { WasmformerError } from './shared/errors.js';
import { parseArgs } from 'node:util';
import { listModels } from './convert/index.js';

export async function printModels(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: { json: { type: 'boolean' } }, allowPositionals: true });
  if (positionals.length !== 1) throw new WasmformerError('models', 'give one list, a file or an address: wasmformer models LIST [--json]');
  const models = await listModels(positionals[0]!);
  if (values.json) return console.log(JSON.stringify(models, undefined, 2));
  const cells = models.map((model) => [model.from, model.to, model.architecture, model.version, model.bytes ? `${(model.bytes / 1e6).toFixed(1)} MB` : '']);
  const rows = [['from', 'to', 'architecture', 'version', 'size'], ...cells];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) console.log(row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ').trimEnd());
}
