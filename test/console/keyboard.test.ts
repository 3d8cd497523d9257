import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CHROMIUM, inPage, launchBrowser, openTab } from './support/browser.ts';

const ACCOUNT = 'a';
const MAX_TABS = 80;
/** Whether another element, such as the bar at the bottom of a narrow window, covers the control with the focus. */
const COVERED = `(() => {
  const focused = document.activeElement;
  const { left, top, width, height } = focused.getBoundingClientRect();
  const shown = document.elementFromPoint(left + width / 2, top + height / 2);
  return focused !== document.body && !(shown !== null && (focused.contains(shown) || shown.contains(focused)));
})()`;
const FOCUSED = `document.activeElement.ariaLabel ?? document.activeElement.textContent`;

describe.skipIf(CHROMIUM === undefined)(
  `the console with a keyboard or a screen reader${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let server: Floodgate;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      [server, browser] = await Promise.all([
        startFloodgate({ args: ['--role', 'rules'], config: { console: { enabled: true } } }),
        launchBrowser(),
      ]);
      for (let i = 0; i < 20; i++) {
        const answer = await fetch(`${server.url}/client/v4${rulesPath(ACCOUNT)}`, {
          method: 'POST',
          body: JSON.stringify({ ...newRule, scope: 'region', name: `r${i}` }),
          headers: { authorization: `Bearer ${server.token}` },
        });
        expect(answer.status).toBe(200);
      }
      page = (await openTab(browser, server.url)).page;
      await page.goto(`${server.url}/console/try?account=${ACCOUNT}`);
      await page.getByLabel('Token', { exact: true }).fill(server.token);
      await page.keyboard.press('Enter');
      await page.getByText('operations to try').waitFor();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
    });

    it.each([
      ['rules', 'region r0'],
      ['rules/new', 'Create the rule'],
      ['zones/new', 'Create the policy'],
    ])('/%s scrolls each control with the focus into view in a narrow window', async (path, settled) => {
      await page.setViewportSize({ width: 360, height: 740 });
      await page.goto(`${server.url}/console/${path}?account=${ACCOUNT}`);
      await page.getByText(settled).first().waitFor();
      for (const key of ['Tab', 'Shift+Tab'])
        for (let i = 0; i < MAX_TABS; i++) {
          await page.keyboard.press(key);
          expect(await inPage<boolean>(page, COVERED), `${key} ${await inPage(page, FOCUSED)}`).toBe(false);
        }
    });

    it('a link whose page replaces it leaves the focus in the content of the new page', async () => {
      await page.goto(`${server.url}/console/rules?account=${ACCOUNT}`);
      await page.getByRole('link', { name: 'region r0', exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Rule for region r0' }).waitFor();
      await expect.poll(() => inPage(page, 'document.activeElement.id')).toBe('page');
      await page.keyboard.press('Tab');
      expect(await inPage(page, FOCUSED)).toBe('← All rules');
    });

    it.each(['Cancel', 'Escape', 'Set to monitoring'])('%s in a dialog returns the focus', async (action) => {
      const mode = page.getByLabel('Mode of the rule for region r0', { exact: true });
      await page.goto(`${server.url}/console/rules?account=${ACCOUNT}`);
      await mode.focus();
      await mode.selectOption('monitoring');
      await page.getByRole('dialog').waitFor();
      if (action === 'Escape') await page.keyboard.press('Escape');
      else await page.getByRole('button', { name: action, exact: true }).press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await inPage(page, FOCUSED)).toBe('Mode of the rule for region r0');
    });

    it('the name of a field is its label, and its note describes it', async () => {
      await page.goto(`${server.url}/console/rules/new?account=${ACCOUNT}`);
      const field = page.getByRole('combobox', { name: 'Rate sensitivity', exact: true });
      await field.waitFor();
      const note = await field.getAttribute('aria-describedby');
      expect(await page.locator(`[id="${note}"]`).textContent()).toContain(
        'Sensitivity to the sustained rate',
      );
    });
  },
);
