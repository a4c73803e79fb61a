// Installs what is missing to build and test: system packages, and, shared by all clones in the user's cache
// folder, Emscripten and the C++ libraries. What is there is left alone.
import { createHash } from 'node:crypto';
import {
  existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isAccepted, refusal, testedVersion, versionOnPath } from './emscripten.mjs';
import { main, output, root, run, step, which } from './shell.mjs';

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'wasmformer');
/** Environment variables that make compilers and new CMake builds use ccache if it is installed (ccache.cmake). */
export function compilerCache() {
  if (!which('ccache')) return {};
  return {
    CCACHE_CONFIGPATH: join(import.meta.dirname, 'ccache.conf'),
    CCACHE_DIR: join(cache, 'ccache'),
    CCACHE_BASEDIR: root,
    CMAKE_C_COMPILER_LAUNCHER: 'ccache',
    CMAKE_CXX_COMPILER_LAUNCHER: 'ccache',
  };
}
const llvm = '/usr/lib/llvm-19/bin';
// Paths of the clang with libFuzzer and the sanitizers; without it, another clang++ that has them is used.
export const fuzzer = { clang: join(llvm, 'clang++'), runtime: join(llvm, '../lib/clang/19/lib/linux') };
// Debian 12's; other versions format differently.
export const clangFormat = () => which('clang-format-14');
const chromiumOfMac = '/Applications/Chromium.app/Contents/MacOS/Chromium';
export const chromium = () => process.env.CHROMIUM
  || ['chromium', 'chromium-browser', 'google-chrome'].map(which).find(Boolean)
  || (existsSync(chromiumOfMac) ? chromiumOfMac : undefined);
/** A Chromium for tests: no windows, tabs or menus, which take as much processor time as a page, and no extensions. */
export const headlessChromium = () => which('chromium-headless-shell') || chromium();
export const firefox = () => process.env.FIREFOX || ['firefox-esr', 'firefox'].map(which).find(Boolean);

// Programs of the system: what needs them (nothing: everything does), how to find them, their packages by package manager.
const programs = {
  cmake: { found: () => which('cmake'), apt: 'cmake', brew: 'cmake', dnf: 'cmake', pacman: 'cmake' },
  ninja: { found: () => which('ninja'), apt: 'ninja-build', brew: 'ninja', dnf: 'ninja-build', pacman: 'ninja' },
  'c++': { needs: ['native'], found: () => which('c++'), apt: 'g++', brew: 'llvm', dnf: 'gcc-c++', pacman: 'gcc' },
  zlib: {
    needs: ['native'], found: () => process.platform === 'darwin' || existsSync('/usr/include/zlib.h'),
    apt: 'zlib1g-dev', brew: 'zlib', dnf: 'zlib-devel', pacman: 'zlib',
  },
  python3: { needs: ['wasm'], found: () => which('python3'), apt: 'python3', brew: 'python3', dnf: 'python3', pacman: 'python' },
  mpicc: {
    needs: ['tests'], found: () => which('mpicc'), apt: 'libopenmpi-dev', brew: 'open-mpi', dnf: 'openmpi-devel', pacman: 'openmpi',
  },
  mpirun: {
    needs: ['tests'], found: () => which('mpirun'), apt: 'openmpi-bin', brew: 'open-mpi', dnf: 'openmpi', pacman: 'openmpi',
  },
  chromium: {
    needs: ['browser'], found: chromium,
    apt: 'chromium', brew: '--cask chromium', dnf: 'chromium', pacman: 'chromium',
  },
  firefox: { needs: ['browsers'], found: firefox, apt: 'firefox-esr', brew: '--cask firefox', dnf: 'firefox', pacman: 'firefox' },
};
// On Debian: the compiler, unless em++ is on PATH, and what the tests use of it.
const llvmPrograms = {
  'clang-19': { needs: ['wasm', 'tests'], found: () => existsSync(join(llvm, 'clang')), apt: 'clang-19' },
  'lld-19': { needs: ['wasm'], found: () => existsSync(join(llvm, 'wasm-ld')), apt: 'lld-19' },
  'llvm-19': { needs: ['wasm'], found: () => existsSync(join(llvm, 'llvm-ar')), apt: 'llvm-19' },
};
// The store of compiled files, the fuzzer, the formatter, a browser without windows, copies of libraries that the installed
// library must not clash with, what writes the pages of C++, and what WebKit needs.
const testPrograms = {
  ccache: { needs: ['tests'], found: () => which('ccache'), apt: 'ccache' },
  libFuzzer: { needs: ['tests'], found: () => existsSync(fuzzer.runtime), apt: 'libclang-rt-19-dev' },
  'clang-format': { needs: ['tests'], found: clangFormat, apt: 'clang-format-14' },
  'chromium-headless-shell': {
    needs: ['browser'], found: () => which('chromium-headless-shell'), apt: 'chromium-headless-shell',
  },
  protobuf: { needs: ['tests'], found: () => existsSync('/usr/include/google/protobuf'), apt: 'libprotobuf-dev' },
  sentencepiece: {
    needs: ['tests'], found: () => existsSync('/usr/include/sentencepiece_processor.h'), apt: 'libsentencepiece-dev',
  },
  eigen: { needs: ['tests'], found: () => existsSync('/usr/include/eigen3/Eigen/Core'), apt: 'libeigen3-dev' },
  'pkg-config': { needs: ['tests'], found: () => which('pkg-config'), apt: 'pkg-config' },
  WebKitWebDriver: { needs: ['browsers'], found: () => which('WebKitWebDriver'), apt: 'webkit2gtk-driver' },
  doxygen: { needs: ['docs', 'tests'], found: () => which('doxygen'), apt: 'doxygen' },
  Xvfb: { needs: ['browsers'], found: () => which('Xvfb'), apt: 'xvfb' },
};

// From Debian, whatever release this machine has: [cache folder, package/suite, folder inside it, folder to put it].
const headers = [
  ['eigen-5.0.1', 'libeigen3-dev/sid', 'usr/include/eigen3', '.'],
  ['nlohmann_json-3.11.2', 'nlohmann-json3-dev/bookworm', 'usr/include/nlohmann', 'include/nlohmann'],
  ['cli11-2.1.2', 'libcli11-dev/bookworm', 'usr/include/CLI', 'include/CLI'],
];
const sources = [
  ['sentencepiece-0.1.97', 'sentencepiece/bookworm'],
  ['catch2-3.7.1', 'catch2/trixie'],
  ['zlib-1.2.13', 'zlib/bookworm'],
  ['libyaml-0.2.5', 'libyaml/bookworm'],
];
const emscripten = `emscripten-${testedVersion}`;
const emscriptenPackages = ['emscripten', 'binaryen', 'libc6', 'libstdc++6', 'libgcc-s1']
  .map((name) => `${name}/trixie`);

const release = () => {
  try {
    return Object.fromEntries(readFileSync('/etc/os-release', 'utf8').split('\n').filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1).replaceAll('"', '')]));
  } catch {
    return {};
  }
};

function hasEmscriptenOnPath() {
  const version = versionOnPath();
  return version !== undefined && isAccepted(version);
}

// Makes cache/name whole or not at all: `fill` writes into a temporary folder, which is then renamed.
function provide(name, fill) {
  const target = join(cache, name);
  inTemporaryFolder((folder) => {
    fill(folder, target);
    if (!existsSync(target)) renameSync(folder, target);
  });
}

// Beside what is kept, so that renaming works; removed afterwards, as are those of runs that were broken off.
function inTemporaryFolder(body) {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache).filter((name) => name.startsWith('unfinished-'))) {
    const hours = (Date.now() - statSync(join(cache, name)).mtimeMs) / 3.6e6;
    if (hours > 1) rmSync(join(cache, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(cache, 'unfinished-'));
  try {
    body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// An apt that sees other releases' packages without touching the system's: for downloads only.
function debianArchive(folder) {
  const { VERSION_CODENAME } = release();
  const site = output('apt-get', ['indextargets', '--format', '$(RELEASE) $(REPO_URI)'])?.split('\n')
    .map((line) => line.split(' '))
    .find(([suite]) => [VERSION_CODENAME, 'stable', 'oldstable', 'testing', 'sid', 'unstable'].includes(suite))?.[1];
  if (!site) throw new Error("apt's sources name no Debian archive: add Debian's main archive to /etc/apt/sources.list");
  const signed = '[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]';
  const suites = { deb: ['bookworm', 'trixie', 'sid'], 'deb-src': ['bookworm', 'trixie'] };
  const list = join(folder, 'sources.list');
  writeFileSync(list, Object.entries(suites)
    .flatMap(([type, names]) => names.map((name) => `${type} ${signed} ${site} ${name} main\n`)).join(''));
  for (const name of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, name), { recursive: true });
  const options = [`Dir::Etc::sourcelist=${list}`, 'Dir::Etc::sourceparts=-', `Dir::State::lists=${join(folder, 'lists')}`,
    `Dir::Cache=${join(folder, 'cache')}`, 'APT::Sandbox::User=root', 'Acquire::Languages=none']
    .flatMap((option) => ['-o', option]);
  const apt = (...args) =>
    run('apt-get', ['-qq', ...options, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  apt('update');
  return {
    packages: (names) => names.length > 0 && apt('download', ...names),
    sources: (names) => names.length > 0 && apt('source', '--download-only', ...names),
    file: (name, ending) =>
      join(folder, readdirSync(folder).find((file) => file.startsWith(`${name}_`) && ending.test(file))),
  };
}

function installEmscripten(archive, folder, target) {
  for (const name of emscriptenPackages) run('dpkg', ['-x', archive.file(name.split('/')[0], /\.deb$/), folder]);
  const share = join(folder, 'usr/share/emscripten');
  const version = readFileSync(join(share, 'emscripten-version.txt'), 'utf8').replaceAll(/[^\d.]/g, '');
  if (!isAccepted(version)) throw new Error(`Debian's package has Emscripten ${version}, but the modules are built and tested with ${testedVersion}`);
  // More than a gigabyte that is not used here; em++ builds again what it misses.
  const variants = ['lto', 'lto-pic', 'pic'].map((name) => `cache/sysroot/lib/wasm32-emscripten/${name}`);
  for (const unused of ['docs', 'test', ...variants]) rmSync(join(share, unused), { recursive: true, force: true });
  // Binaryen is started by the loader and libraries it was built with, which are newer than the system's.
  const loader = join('usr/lib64', readdirSync(join(folder, 'usr/lib64')).find((name) => name.startsWith('ld-linux')));
  const libraries = join('usr/lib', readdirSync(join(folder, 'usr/lib')).find((name) => name.endsWith('-linux-gnu')));
  mkdirSync(join(folder, 'binaryen/bin'), { recursive: true });
  for (const name of readdirSync(join(folder, 'usr/bin')).filter((name) => name.startsWith('wasm'))) {
    writeFileSync(join(folder, 'binaryen/bin', name), `#!/bin/sh
prefix=$(dirname "$0")/../..
exec "$prefix/${loader}" --library-path "$prefix/${libraries}" "$prefix/usr/bin/${name}" "$@"
`, { mode: 0o755 });
  }
  // emcc wants acorn; --emit-tsd wants tsc, on PATH.
  writeFileSync(join(share, '.emscripten'), `import os
root = '${target}/usr/share/emscripten'
os.environ['PATH'] = root + '/node_modules/.bin' + os.pathsep + os.environ['PATH']
LLVM_ROOT = '${llvm}'
BINARYEN_ROOT = '${target}/binaryen'
NODE_JS = 'node'
CACHE = root + '/cache'
`);
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  run('npm', ['install', '--no-save', ...quiet, 'acorn@8', 'typescript@5'],
    { cwd: share, stdio: ['ignore', 'ignore', 'inherit'] });
}

function installSystemPackages(names) {
  const isRoot = process.getuid() === 0;
  const privileged = isRoot ? [] : ['sudo'];
  if (!isRoot && !which('sudo')) throw new Error(`Missing packages: run \`apt-get install ${names.join(' ')}\` as root`);
  step(`Installing ${names.join(' ')}`);
  const apt = [...privileged, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=600'];
  run(apt[0], [...apt.slice(1), 'update']);
  run(apt[0], [...apt.slice(1), 'install', '-y', '--no-install-recommends', ...names],
    { stdio: ['ignore', 'ignore', 'inherit'] });
}

// Throws, naming each missing program together with the command that installs it.
function nameMissing(missing, needsEmscripten) {
  const installers = { brew: 'brew install', dnf: 'sudo dnf install', pacman: 'sudo pacman -S', apt: 'sudo apt install' };
  const manager = Object.keys(installers).find(which) ?? 'apt';
  const lines = missing.map((name) => `${name} is missing: ${installers[manager]} ${programs[name][manager]}`);
  if (needsEmscripten) lines.push(refusal(versionOnPath()));
  if (lines.length > 0) throw new Error(lines.join('\n'));
}

// `needs`: what is to be built or run, of native, wasm, browser (Chromium), browsers (the others), docs and tests.
export function setUp(...needs) {
  const debian = release().ID === 'debian';
  const needsEmscripten = needs.includes('wasm') && !hasEmscriptenOnPath() && !existsSync(join(cache, emscripten));
  const wanted = { ...programs, ...(debian && !hasEmscriptenOnPath() && llvmPrograms), ...(debian && testPrograms) };
  const missing = Object.keys(wanted).filter((name) =>
    (wanted[name].needs ?? needs).some((need) => needs.includes(need)) && !wanted[name].found());
  if (!debian) {
    nameMissing(missing, needsEmscripten);
    return; // CMake downloads the libraries.
  }
  if (missing.length > 0) installSystemPackages(missing.map((name) => wanted[name].apt));

  const isMissing = ([name]) => !existsSync(join(cache, name));
  const missingHeaders = headers.filter(isMissing);
  const missingSources = sources.filter(isMissing);
  const fetched = [...missingHeaders, ...missingSources].map(([name]) => name);
  if (needsEmscripten) fetched.push(`${emscripten} (240 MB)`);
  if (fetched.length === 0) return;
  inTemporaryFolder((folder) => {
    step('Reading the package lists of other Debian releases');
    const archive = debianArchive(folder);
    step(`Fetching ${fetched.join(', ')}`);
    archive.packages([...missingHeaders.map(([, source]) => source), ...(needsEmscripten ? emscriptenPackages : [])]);
    archive.sources(missingSources.map(([, source]) => source));
    step('Unpacking them');
    for (const [name, source, from, to] of missingHeaders) {
      provide(name, (temporary) => {
        const unpacked = join(folder, name);
        run('dpkg', ['-x', archive.file(source.split('/')[0], /\.deb$/), unpacked]);
        mkdirSync(join(temporary, to, '..'), { recursive: true });
        rmSync(join(temporary, to), { recursive: true, force: true });
        renameSync(join(unpacked, from), join(temporary, to));
      });
    }
    for (const [name, source] of missingSources) {
      const tarball = archive.file(source.split('/')[0], /\.orig\.tar\.\w+$/);
      provide(name, (temporary) => run('tar', ['xf', tarball, '--strip-components=1', '-C', temporary]));
    }
    if (needsEmscripten) provide(emscripten, (temporary, target) => installEmscripten(archive, temporary, target));
  });
}

/**
 * Arguments of `npm ci` that leave out the packages of the tests. package.json names what the builds need; the page also
 * imports the workspace bindings/detect-model, which detects languages. The other workspace, tests/package.json, names
 * what only tests, documentation and formatter need.
 */
export const withoutTests = ['--include-workspace-root', '--workspace', 'bindings/detect-model'];

// Installs the npm packages of package-lock.json; repeats that only when the file or the arguments have changed.
export function installPackages({ tests = false } = {}) {
  const lock = createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
  const stamp = join(root, 'node_modules/.wasmformer');
  const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
  const all = `${lock} with tests`;
  const wanted = tests ? all : [lock, ...withoutTests].join(' ');
  if (installed === all || installed === wanted) return;
  step('Installing npm packages');
  run('npm', ['ci', '--loglevel=error', ...(tests ? [] : withoutTests)]);
  writeFileSync(stamp, wanted);
}

await main(import.meta.url, () => setUp('native', 'wasm', 'browser'));
