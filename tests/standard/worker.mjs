// The checks of behaviors.mjs in a worker of a browser: it gets the address of a model, and answers with the failures.
import { Translator } from '/dist/index.js';
import * as standard from '/dist/standard/index.js';
import { failures, words } from './behaviors.mjs';

onmessage = async ({ data: model }) => postMessage(await failures({ standard, model, words }, await Translator.load(model)));
