import { checks } from './checks.mjs';

checks('Chromium', { build: 'relaxed', threads: true });
