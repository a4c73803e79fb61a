// `npm run format`: clang-format for C++, ESLint for JavaScript, TypeScript and Svelte. `-- FOLDER…` takes less than
// everything, `-- --check` only reports.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { clangFormat, installPackages, setUp } from './setup.mjs';
import { main, root } from './shell.mjs';

const unformatted = 'Some files are not formatted or break a rule: run `npm run format`, and fix the rest by hand';

function format(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error) throw new Error(`${program} could not be started: ${error.message}`);
  if (status !== 0) throw new Error(unformatted);
}

await main(import.meta.url, (args) => {
  const check = args.includes('--check');
  const given = args.filter((name) => name !== '--check');
  if (!clangFormat()) setUp('tests');
  installPackages({ tests: true });
  const cpp = (given.length > 0 ? given : ['src', 'bindings', 'tests']).flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).filter((name) => /\.(h|cpp)$/.test(name))
      .map((name) => join(folder, name)));
  if (!clangFormat()) console.log('clang-format 14 is missing: C++ is left as it is');
  else if (cpp.length > 0) format(clangFormat(), [...(check ? ['--dry-run', '-Werror'] : ['-i']), ...cpp]);
  const cache = ['--cache', '--cache-location', 'build/eslint-cache'];
  const scripts = given.length > 0 ? given : ['.'];
  format(join(root, 'node_modules/.bin/eslint'),
    [...cache, '--no-error-on-unmatched-pattern', ...(check ? [] : ['--fix']), ...scripts]);
});
