// The oldest TypeScript that reads the types of the package, with libraries checked.
import { join } from 'node:path';
import { test } from 'node:test';
import { project, run } from './support.mjs';

const oldest = '5.2';
const entries = ['', '/engine', '/webpages', '/pipeline', '/convert', '/options', '/attention'];

test(`TypeScript ${oldest} reads all types`, () => {
  const settings = { noEmit: true, strict: true, target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom'], types: [] };
  const uses = entries.map((entry, i) => `import * as entry${i} from 'wasmformer${entry}';\nexport const use${i}: object = entry${i};\n`);
  const glue = "import factory from 'wasmformer/wasm/relaxed/wasmformer.mjs';\nimport module from 'wasmformer/wasm/relaxed/wasmformer.wasm';\n"
    + "import { Engine } from 'wasmformer/engine';\nexport const engine = Engine.create({ module, factory });\n";
  const place = project('typescript', {
    'main.ts': uses.join('') + glue, 'tsconfig.json': JSON.stringify({ compilerOptions: settings, files: ['main.ts'] }),
  }, [`typescript@${oldest}`]);
  run(process.execPath, [join(place, 'node_modules/typescript/bin/tsc'), '-p', place]);
});
