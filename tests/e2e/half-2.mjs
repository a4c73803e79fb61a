// The second half of the tests of the page.
import { importHalf } from './halves.mjs';

await importHalf(1);
