// The Emscripten that the modules are built with: its tested version stands in emscripten-version.txt, which
// emscripten.cmake reads too. A later patch of the same minor version is accepted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { output, which } from './shell.mjs';

export const testedVersion = readFileSync(join(import.meta.dirname, 'emscripten-version.txt'), 'utf8').trim();

const numbers = (version) => version.split('.').map(Number);

/** The version in what `em++ --version` prints; undefined if that has no version. */
export const versionIn = (text) => /^emcc.* (\d+\.\d+\.\d+)/m.exec(text)?.[1];

/** True for the tested version and later patches of it. */
export function isAccepted(version) {
  const [major, minor, patch] = numbers(version);
  const [testedMajor, testedMinor, testedPatch] = numbers(testedVersion);
  return major === testedMajor && minor === testedMinor && patch >= testedPatch;
}

/** The version of the em++ on PATH; undefined if em++ is missing. */
export function versionOnPath() {
  return which('em++') && versionIn(output('em++', ['--version']) ?? '');
}

const install = 'git clone https://github.com/emscripten-core/emsdk && cd emsdk && '
  + `./emsdk install ${testedVersion} && ./emsdk activate ${testedVersion} && source ./emsdk_env.sh`;

/** One sentence: what is wrong with the em++ on PATH, if there is one, and the command that installs the tested version. */
export function refusal(version) {
  const found = version === undefined ? `em++ ${testedVersion} is missing`
    : `em++ ${version} is refused, since the modules are built and tested with Emscripten ${testedVersion}`;
  return `${found}: ${install}`;
}
