import { mount } from 'svelte';
import './app.css';
import App from './App.svelte';
import { isolate } from './shell/isolation';
import { link } from './state/link.svelte';
import { models } from './state/models.svelte';
import { settings } from './state/settings.svelte';
import { translation } from './state/translation.svelte';

settings.start();
link.start();
models.expect();
translation.start();
mount(App, { target: document.body });
void isolate().then(() => models.start());
