// `npx wasmformer models LIST`: what is in a list of Mozilla's.
import { WasmformerError } from './shared/errors.js';
import { parseArgs } from 'node:util';
import { listModels } from './convert/index.js';

const help = `Print the models in a list by Mozilla: languages, architecture, version, size
Usage: wasmformer models LIST [OPTIONS]

Positionals:
  LIST                    a file or an address: models.json, registry.json, or
                          Remote Settings records

Options:
  --json                  print one JSON array
  --quiet                 no effect: this command prints no progress
  -h, --help              Print this help message and exit

Examples:
  wasmformer models models.json
  wasmformer models registry.json --json
`;

const options = { json: { type: 'boolean' }, quiet: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

export async function printModels(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  if (positionals.length !== 1) throw new WasmformerError('models', 'give one list, a file or an address: wasmformer models LIST [--json]');
  const models = await listModels(positionals[0]!);
  if (values.json) return console.log(JSON.stringify(models, undefined, 2));
  const cells = models.map((model) => [model.from, model.to, model.architecture, model.version, model.bytes ? `${(model.bytes / 1e6).toFixed(1)} MB` : '']);
  const rows = [['from', 'to', 'architecture', 'version', 'size'], ...cells];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows) console.log(row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ').trimEnd());
}
