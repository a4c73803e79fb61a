// Training on one screen: what is in sight, that nothing moves, and what is there when one comes back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { looks } from './looks.mjs';
import { go, phone, share, shifts, show, watchShifts } from './support.mjs';
import { width, withView } from './views.mjs';

let site;
before(async () => (site = await share()));
after(() => site.stop());

const screen = { viewport: { width: 1366, height: 900 } };
const small = `#train?setup=${encodeURIComponent('data:reverse,pairs:500,steps:400,batch_tokens:256')}`;
const cockpit = (page) => page.locator('.cockpit');
const film = (page) => page.getByRole('group', { name: 'Snapshots' }).getByRole('button');

test('pressing a card fills the screen: controls, progress, sentence, map, film, loss and score are visible, and nothing moves', () =>
  withView(site, screen, '#train', async (page) => {
    await page.getByRole('button', { name: /^Reverse/ }).click();
    await page.getByTestId('watched').waitFor();
    await film(page).nth(3).waitFor();
    for (const part of ['.big', 'progress', '[data-testid=watched]', '[role=application]', '[aria-label=Snapshots]', '.u-legend']) {
      const bottoms = await page.locator(`.cockpit ${part}:visible`).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
      assert.ok(bottoms.length > 0 && Math.max(...bottoms) <= 900, `${part} ends at ${bottoms}`);
    }
    await page.mouse.move(1, 1);
    await watchShifts(page);
    await film(page).nth(7).waitFor(); // the translation and its map change all the time
    await page.locator('.cockpit').getByRole('button', { name: 'Play' }).click();
    await page.waitForTimeout(1500);
    assert.deepEqual(await shifts(page), []);
    await film(page).first().click();
    assert.equal(await film(page).first().getAttribute('aria-pressed'), 'true');
    assert.deepEqual(await page.evaluate(looks), []);
    await page.setViewportSize(phone.viewport);
    assert.equal(await width(page), phone.viewport.width);
    assert.deepEqual(await page.evaluate(looks), []);
    await page.getByRole('button', { name: 'Switch to Chinese' }).click();
    await cockpit(page).getByText('暂停').waitFor();
    assert.deepEqual(await page.evaluate(looks), []);
    await page.getByRole('button', { name: 'Switch to English' }).click();
    // Training takes the processor from what follows, and would show nothing else there.
    await cockpit(page).getByRole('button', { name: 'Pause' }).click();
    await cockpit(page).getByText('paused', { exact: true }).waitFor();
    await show(page, 'cockpit-phone');
    await page.setViewportSize(screen.viewport);
    await show(page, 'cockpit');
  }));

test('cards say how long they take on this computer; Close brings them back, and the run continues', () =>
  withView(site, screen, '#train', async (page) => {
    // That of a card with a budget needs no measurement.
    await page.getByText(/^≈ .+ on this computer$/).nth(1).waitFor();
    assert.equal(await page.getByText(/^≈ .+ on this computer$/).count(), 7);
    await page.goto(site.address + small);
    await page.reload();
    await page.getByRole('button', { name: 'Start training' }).click();
    await cockpit(page).getByText(/^running/).waitFor();
    await go(page, 'About');
    await page.getByRole('banner').getByRole('link', { name: /^Reverse \d+%/ }).click();
    await cockpit(page).getByRole('button', { name: 'Close' }).click();
    await cockpit(page).waitFor({ state: 'detached' });
    await page.locator('.runs').getByRole('button', { name: 'Reverse' }).click();
    await cockpit(page).getByRole('button', { name: 'Pause' }).click();
    await cockpit(page).getByText('paused', { exact: true }).waitFor();
  }));
