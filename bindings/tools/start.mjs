// `npm start`: installs and builds what is missing, then serves the page.
import { join } from 'node:path';
import { pageHeaders, serve } from '../../web/serve.mjs';
import { buildPage } from './build.mjs';
import { precompress } from './precompress.mjs';
import { installPackages, setUp } from './setup.mjs';
import { main, root } from './shell.mjs';

await main(import.meta.url, async () => {
  setUp('wasm');
  installPackages();
  buildPage();
  const folder = join(root, 'build/page');
  const { address } = await serve(folder, Number(process.env.PORT ?? 8080), pageHeaders).catch((error) => {
    if (error.code !== 'EADDRINUSE' || process.env.PORT) throw error;
    return serve(folder, 0, pageHeaders);
  });
  console.log(`The page is at ${address}  (Ctrl+C ends)`);
  await precompress(folder); // sent from then on, as other hosts would
});
