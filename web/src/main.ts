import { mount } from 'svelte';
import './shell/app.css';
import App from './App.svelte';
import { isolate } from './shell/isolation';
import { createModels } from './models/models.svelte';
import { createSettings } from './shell/settings.svelte';
import { createUrlState } from './shell/url-state.svelte';
import { Stores } from './shared/stores.svelte';
import { createTranslation } from './translate/translation.svelte';

const stores = new Stores();
const models = stores.get(createModels);
// Each reads what the ones before it have found.
stores.get(createSettings).start();
stores.get(createUrlState).start();
models.expect();
stores.get(createTranslation).start();
mount(App, { target: document.body, props: { stores } });
void isolate().then(() => models.start());
