// The first cases of the campaigns, always the same ones; `npm run torture` runs more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conduct } from './campaign.mjs';

const counts = { kills: 12, ranks: 10, allocations: 40, memory: 40, disk: 20, inputs: 40, aborts: 24, together: 6 };

for (const [name, most] of Object.entries(counts)) {
  test(`${name}: ${most} cases`, async () => {
    const told = [];
    const { default: campaign } = await import(`./${name}.mjs`);
    const found = await conduct(name, campaign, { seed: 1, seconds: Infinity, most, tell: (text) => told.push(text) });
    assert.deepEqual(found, [most, 0], told.join('\n'));
  });
}
