import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CHROMIUM, fetchRoute, launchBrowser, openTab, type Tab } from './support/browser.ts';

const ACCOUNT = 'a';
const CONFIGS = rulesPath(ACCOUNT).replace(/\/dns_protection\/rules$/, '');

describe.skipIf(CHROMIUM === undefined)(
  `the console after a request without a response${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let server: Floodgate;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    const ids: Record<string, string> = {};

    beforeAll(async () => {
      [server, browser] = await Promise.all([
        startFloodgate({ args: ['--role', 'rules'], config: { console: { enabled: true } } }),
        launchBrowser(),
      ]);
      ids['RULE'] = (await create(rulesPath(ACCOUNT), newRule)).id;
      ids['ENTRY'] = (await create(`${CONFIGS}/denylist`, { prefix: '192.0.2.0/24' })).id;
      ids['POLICY'] = (await create(`${CONFIGS}/dns_protection/zones`, { zone: 'example.com' })).id;
      tab = await signedIn(server.token);
      page = tab.page;
    });
    afterEach(() => tab.context.setOffline(false));
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
    });

    const create = async (path: string, body: object) => {
      const answer = await fetch(`${server.url}/client/v4${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization: `Bearer ${server.token}` },
      });
      return ((await answer.json()) as { result: { id: string; value: string } }).result;
    };
    const signedIn = async (token: string): Promise<Tab> => {
      const opened = await openTab(browser, server.url);
      await opened.page.goto(`${server.url}/console/try?account=${ACCOUNT}`);
      await opened.page.getByLabel('Token', { exact: true }).fill(token);
      await opened.page.getByRole('button', { name: 'Sign in' }).click();
      await opened.page.getByText('operations to try').waitFor();
      return opened;
    };
    const open = (path: string, of = page) =>
      of.goto(
        `${server.url}/console/${path.replace(/[A-Z]+$/, (name) => ids[name] ?? name)}?account=${ACCOUNT}`,
      );
    const button = (name: string, of = page) => of.getByRole('button', { name, exact: true });
    const alerts = () => page.getByRole('alert').allTextContents();

    const FORMS: readonly (readonly [path: string, edit: () => Promise<unknown>, action: string])[] = [
      ['rules/new', async () => {}, 'Create the rule'],
      ['zones/new', () => page.locator('[name=zone]').fill('example.org'), 'Create the policy'],
      ['lists', () => page.getByLabel('New network or name').fill('198.51.100.0/24'), 'Add the entry'],
      [
        'access',
        async () => {
          await button('New token').click();
          await page.getByLabel('Label').fill('test');
        },
        'Create token',
      ],
    ];
    it.each(FORMS)(
      '/%s reports nothing that is false when the server answers again',
      async (path, edit, action) => {
        await open(path);
        await page.locator('main h1').waitFor();
        await edit();
        await tab.context.setOffline(true);
        await button(action).click();
        await expect
          .poll(alerts)
          .toContainEqual(expect.stringMatching(/did not answer.*(not known whether|Nothing was)/));
        await tab.context.setOffline(false);
        await page.getByText('● live').waitFor();
        // Only the form reports a failure, and its text is about the request.
        await expect.poll(async () => (await alerts()).length).toBe(1);
        expect(await alerts()).not.toContainEqual(expect.stringMatching(/cannot be reached/));
        await button(action).click();
        await expect.poll(alerts).toEqual([]);
      },
    );

    const EDITS: readonly (readonly [path: string, name: string, edit: () => Promise<unknown>])[] = [
      ['rules/RULE', 'rule', () => page.getByLabel('Rate sensitivity').selectOption('high')],
      ['zones/POLICY', 'policy', () => page.getByLabel('Comment').fill('a')],
      ['lists/denylist/ENTRY', 'entry', () => page.getByLabel('Comment').fill('b')],
    ];
    it.each(EDITS)('/%s keeps the input of a change that did not arrive', async (path, name, edit) => {
      await open(path);
      await button('Save').waitFor();
      await edit();
      await tab.context.setOffline(true);
      await button('Save').click();
      await expect.poll(alerts).toContainEqual(expect.stringMatching(/did not answer.*not known whether/));
      await tab.context.setOffline(false);
      await expect.poll(alerts).toEqual([]);
      await page
        .getByText(new RegExp(`^The change of the ${name} for .* was not saved\\. Save it again\\.`))
        .waitFor();
      await button('Save').click();
      await page.getByText(/^Saved for/).waitFor();
      expect(await button('Save').isDisabled(), name).toBe(true);
    });

    const SAVED: typeof EDITS = [
      ['rules/RULE', 'rule', () => page.getByLabel('Rate sensitivity').selectOption('low')],
      ['zones/POLICY', 'policy', () => page.getByLabel('Comment').fill('c')],
      ['lists/denylist/ENTRY', 'entry', () => page.getByLabel('Comment').fill('d')],
    ];
    it.each(SAVED)(
      '/%s reports that a change was saved although its response was lost',
      async (path, name, edit) => {
        await open(path);
        await button('Save').waitFor();
        await edit();
        await page.route('**/client/v4/**', async (route) => {
          if (route.request().method() !== 'PATCH') return route.continue();
          await route.fetch({
            headers: { ...(await route.request().allHeaders()), 'sec-fetch-site': 'same-origin' },
          });
          return route.abort('connectionreset');
        });
        await button('Save').click();
        await page.getByText(new RegExp(`^The ${name} for .* was saved\\.`)).waitFor();
        await page.unroute('**/client/v4/**');
        expect(await alerts()).toEqual([]);
        expect(await button('Save').isDisabled()).toBe(true);
      },
    );

    it('/rules does not state that a rule was not deleted if the response was lost', async () => {
      await open('rules/RULE');
      await button('Delete …').click();
      await page.getByLabel(/^Type .* to continue$/).fill('global');
      await page.route('**/client/v4/**', async (route) => {
        if (route.request().method() !== 'DELETE') return route.continue();
        await fetchRoute(route);
        return route.abort('connectionreset');
      });
      await button('Delete the rule').click();
      const message = page.getByRole('status').filter({ hasText: 'did not answer' });
      expect(await message.textContent()).toMatch(
        /^It is not known whether anything was changed\. The server did/,
      );
      await page.unroute('**/client/v4/**');
    });

    it('reads a list again when the server answers again, for a token that may not read the live stream', async () => {
      const { value } = await create('/user/tokens', { all_accounts: true, permissions: ['tokens:read'] });
      const reader = await signedIn(value);
      await reader.context.setOffline(true);
      await reader.page.getByRole('link', { name: 'Access', exact: true }).first().click();
      await expect.poll(() => reader.page.getByRole('alert').count()).toBeGreaterThan(0);
      await reader.context.setOffline(false);
      await expect.poll(() => reader.page.getByRole('alert').count()).toBe(0);
      await reader.page.getByRole('table', { name: 'Tokens' }).waitFor();
      await reader.context.close();
    });

    it('/nodes reads the state again while the server rejects the live stream', async () => {
      const error = {
        success: false,
        result: null,
        errors: [{ code: 10503, message: 'busy' }],
        messages: [],
      };
      await page.route('**/live', (route) => route.fulfill({ status: 503, json: error }));
      await open('nodes');
      await page.getByRole('status').filter({ hasText: 'reconnecting' }).waitFor();
      for (let i = 0; i < 2; i++) await page.waitForRequest('**/client/v4/health');
      await page.unroute('**/live');
    });

    it('announces a lost connection once, and not the time since then', async () => {
      const message = JSON.stringify({ at: new Date().toISOString(), rules_etag: '', zones_etag: '' });
      await page.route('**/live', (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `data: ${message}\n\n` }),
      );
      await open('lists');
      await page.getByText(/^, last update .* ago$/).waitFor();
      const status = page.getByRole('status').filter({ hasText: 'reconnecting' });
      expect(await status.textContent()).toBe('○ reconnecting');
      await page.unroute('**/live');
    });

    it('keeps a token in the sign-in form if the server did not answer', async () => {
      const opened = await openTab(browser, server.url);
      await opened.page.goto(`${server.url}/console/`);
      await opened.page.getByLabel('Token', { exact: true }).fill(server.token);
      await opened.context.setOffline(true);
      await button('Sign in', opened.page).click();
      await opened.page.getByText('The server did not answer.').waitFor();
      await opened.context.setOffline(false);
      await button('Sign in', opened.page).click();
      await opened.page.getByRole('navigation', { name: 'Pages' }).waitFor();
      await opened.context.close();
    });
  },
);
