// `npm run bench -- --browsers`: in Chromium, Firefox and WebKit, the bundled model with one thread and with as many as the
// package takes, then the synthetic model T with one.
import { setUp } from '../../bindings/tools/setup.mjs';
import { browsers } from '../browsers/drivers.mjs';
import { measure } from './driver.mjs';

const parts = {
  'de-en': { module: 'bundled.mjs' },
  'translation T, int8': { module: 'translator.mjs', params: { shape: 'T', precision: 'int8', threads: 1, batches: [1, 32] } },
};

export async function measureBrowsers(figures, { wanted, ...settings }) {
  setUp('browser', 'browsers');
  for (const [title, part] of Object.entries(parts)) {
    const jobs = [];
    for (const name of Object.keys(browsers).filter((name) => wanted(`${title}, ${name}`))) {
      const browser = await browsers[name].launch();
      jobs.push({ ...part, title, who: `${name} ${browser.version}`, kind: 'tab', browser, prefix: title });
    }
    for (const [name, values] of await measure(jobs, settings)) figures.set(name, values);
  }
}
