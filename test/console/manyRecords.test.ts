import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CHROMIUM, inPage, launchBrowser, openTab } from './support/browser.ts';

const ACCOUNT = 'a';
const CONFIGS = rulesPath(ACCOUNT).replace(/\/dns_protection\/rules$/, '');
const RECORDS = 300;

describe.skipIf(CHROMIUM === undefined)(
  `pages with many records${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let server: Floodgate;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      [server, browser] = await Promise.all([
        startFloodgate({ args: ['--role', 'rules'], config: { console: { enabled: true } } }),
        launchBrowser(),
      ]);
      const post = async (path: string, body: object) => {
        const answer = await fetch(`${server.url}/client/v4${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { authorization: `Bearer ${server.token}` },
        });
        expect(answer.status, await answer.text()).toBe(200);
      };
      for (let i = 0; i < RECORDS; i++)
        await Promise.all([
          post(rulesPath(ACCOUNT), { ...newRule, scope: 'datacenter', name: `pop${i}` }),
          post(`${CONFIGS}/dns_protection/zones`, { zone: `zone${i}.example` }),
          post(`${CONFIGS}/denylist`, {
            prefix: `10.0.${i % 256}.${i < 256 ? 0 : 128}/25`,
            comment: `pop${i}`,
          }),
        ]);
      page = (await openTab(browser, server.url)).page;
      await page.goto(`${server.url}/console/try?account=${ACCOUNT}`);
      await page.getByLabel('Token', { exact: true }).fill(server.token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('operations to try').waitFor();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
    });

    it.each([
      ['rules', '300 rules', 'pop29'],
      ['zones', '300 policies', 'zone29'],
      ['lists', 'Denied: 300 networks', 'pop29'],
    ])('/%s renders the first 100, counts all, finds any and shows more', async (path, headline, sought) => {
      const rows = page.locator('main tbody').getByRole('row');
      await page.goto(`${server.url}/console/${path}?account=${ACCOUNT}`);
      await page.locator('main h1').getByText(headline).waitFor();
      await expect.poll(() => rows.count()).toBe(100);
      expect(await inPage<number>(page, "document.querySelectorAll('*').length")).toBeLessThan(3_000);
      await page.getByRole('searchbox').fill(sought);
      await expect.poll(() => rows.count()).toBe(11);
      await page.getByRole('status').getByText('11 of 300 match').waitFor();
      expect(await rows.getByText(`${sought}9`).first().isVisible()).toBe(true);
      await page.getByRole('searchbox').fill('');
      await page.getByRole('button', { name: 'Show more (200 left)' }).click();
      await page.getByRole('button', { name: 'Show more (100 left)' }).click();
      await expect.poll(() => rows.count()).toBe(300);
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    });

    it('/lists reads a list again only after it was changed', async () => {
      const statuses: string[] = [];
      page.on('response', (response) => {
        const list = /configs\/(allowlist|denylist)$/.exec(response.url())?.[1];
        if (list !== undefined && response.request().method() === 'GET')
          statuses.push(`${list} ${response.status()}`);
      });
      await page.goto(`${server.url}/console/lists?account=${ACCOUNT}`);
      await page.locator('main h1').getByText('Denied: 300 networks').waitFor();
      await expect.poll(() => statuses).toContain('allowlist 304');
      statuses.length = 0;
      await page.getByLabel('New network or name').fill('192.0.2.0/24');
      await page.getByRole('button', { name: 'Add the entry' }).click();
      await page.locator('main h1').getByText('Denied: 301 networks').waitFor();
      await expect.poll(() => statuses).toContain('allowlist 304');
      expect(statuses.filter((status) => status.endsWith('200'))).toEqual(['denylist 200']);
    });
  },
);
