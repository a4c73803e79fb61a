// `npm run bench -- --browsers`: in Chromium, Firefox and WebKit, the bundled model with one thread and with as many as the
// package takes, the same while other programs keep all cores busy, then the synthetic model T with one thread.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setUp } from '../../bindings/tools/setup.mjs';
import { browsers } from '../browsers/drivers.mjs';
import { measure } from './driver.mjs';

const parts = {
  'de-en': { module: 'bundled.mjs' },
  'de-en, busy cores': { module: 'bundled.mjs', isBusy: true },
  'translation T, int8': { module: 'translator.mjs', params: { shape: 'T', precision: 'int8', threads: 1, batches: [1, 32] } },
};

export async function measureBrowsers(figures, { wanted, ...settings }) {
  setUp('browser', 'browsers');
  for (const [title, { isBusy, ...part }] of Object.entries(parts)) {
    const jobs = [];
    for (const name of Object.keys(browsers).filter((name) => wanted(`${title}, ${name}`))) {
      const browser = await browsers[name].launch();
      jobs.push({ ...part, title, who: `${name} ${browser.version}`, kind: 'tab', browser, prefix: title });
    }
    const others = Array.from({ length: isBusy ? availableParallelism() : 0 }, () => spawn(process.execPath, ['-e', 'for (;;);']));
    try {
      for (const [name, values] of await measure(jobs, settings)) figures.set(name, values);
    } finally {
      for (const other of others) other.kill();
    }
  }
}
