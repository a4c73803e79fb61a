import { mount } from 'svelte';
import './shell/app.css';
import App from './App.svelte';
import { isolate } from './shell/isolation';
import { link } from './shell/url-state.svelte';
import { models } from './models/models.svelte';
import { settings } from './shell/settings.svelte';
import { translation } from './translate/translation.svelte';

settings.start();
link.start();
models.expect();
translation.start();
mount(App, { target: document.body });
void isolate().then(() => models.start());
