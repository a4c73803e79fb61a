import { checks } from './checks.mjs';

checks('WebKit', { build: 'simd', threads: false, keeps: false });
