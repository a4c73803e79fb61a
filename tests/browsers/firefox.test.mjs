import { checks } from './checks.mjs';

checks('Firefox', { build: 'relaxed', threads: true });
