// `npm run bench -- --browsers`: the bundled model in Chromium, Firefox and WebKit, with one thread and with as many as
// the package takes.
import { setUp } from '../../bindings/tools/setup.mjs';
import { browsers } from '../browsers/drivers.mjs';
import { measure } from './driver.mjs';

export async function measureBrowsers(figures, { wanted, ...settings }) {
  setUp('browser', 'browsers');
  const title = 'de-en';
  const jobs = [];
  for (const name of Object.keys(browsers).filter((name) => wanted(`${title}, ${name}`))) {
    const browser = await browsers[name].launch();
    jobs.push({ title, who: `${name} ${browser.version}`, kind: 'tab', browser, module: 'bundled.mjs', prefix: title });
  }
  for (const [name, values] of await measure(jobs, settings)) figures.set(name, values);
}
