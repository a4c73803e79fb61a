import { mount } from 'svelte';
import './app.css';
import App from './App.svelte';
import { page } from './page.svelte';

page.start();
mount(App, { target: document.body });
