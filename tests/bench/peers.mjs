// Installs what `--peers` compares with into the user's cache folder, once for all clones.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { root } from '../../bindings/tools/shell.mjs';

const packages = {
  'onnxruntime-web': '1.31.0-dev.20260914-8d85527a0',
  'onnxruntime-node': '1.30.0',
  '@tensorflow/tfjs': '4.22.0',
  '@tensorflow/tfjs-backend-wasm': '4.22.0',
  '@jax-js/jax': '0.1.25',
  '@browsermt/bergamot-translator': '0.4.9',
  fxtranslate: '0.4.2',
};

// The jobs find them in build/bench/peers.
export function installPeers(log) {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'wasmformer/peers');
  const stamp = join(folder, 'installed.json');
  const text = JSON.stringify({ private: true, dependencies: packages }, null, 2);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== text) {
    log(`installing ${Object.keys(packages).join(', ')} into ${folder}`);
    writeFileSync(join(folder, 'package.json'), text);
    // The one script there is would download CUDA.
    const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      { cwd: folder, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error('npm could not install the peers');
    writeFileSync(stamp, text);
  }
  const link = join(root, 'build/bench/peers');
  rmSync(link, { force: true });
  symlinkSync(folder, link);
}
