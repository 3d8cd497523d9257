import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { CHROMIUM, inPage, launchBrowser, openTab, type Tab } from './support/browser.ts';

const ACCOUNT = 'a';
const ALL = ['dns_protection:write', 'dns_protection:audit'];

describe.skipIf(CHROMIUM === undefined)(
  `input that is not saved${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let server: Floodgate;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    let token: { readonly id: string; readonly value: string };
    let rule: string;

    beforeAll(async () => {
      [server, browser] = await Promise.all([
        startFloodgate({
          args: ['--role', 'rules,gateway,ingest'],
          config: { console: { enabled: true } },
          upstream: 'http://127.0.0.1:9',
          whenListening: true,
        }),
        launchBrowser(),
      ]);
      rule = (await api('POST', rulesPath(ACCOUNT), newRule)).id;
      token = await api('POST', '/user/tokens', { all_accounts: true, permissions: ALL });
      tab = await openTab(browser, server.url);
      page = tab.page;
      await page.goto(`${server.url}/console/try?account=${ACCOUNT}`);
      await signIn(token.value);
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
    });

    const api = async (method: string, path: string, body?: object) => {
      const answer = await fetch(`${server.url}/client/v4${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${server.token}` },
      });
      return ((await answer.json()) as { result: { id: string; value: string; rate_sensitivity: string } })
        .result;
    };
    const signIn = async (value: string) => {
      await page.getByLabel('Token', { exact: true }).fill(value);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    };
    const open = (path: string) => page.goto(`${server.url}/console/${path}?account=${ACCOUNT}`);
    const rate = () => page.getByLabel('Rate sensitivity');
    const button = (name: string) => page.getByRole('button', { name, exact: true });

    it('of a rule is still there after Reload, after Back, and after the token has ended', async () => {
      await open(`rules/${rule}`);
      await rate().selectOption('high');
      await page.reload();
      await expect.poll(() => rate().inputValue()).toBe('high');
      await page.getByRole('link', { name: '← All rules' }).click();
      await page.getByText('1 rule').waitFor();
      await page.goBack();
      await expect.poll(() => rate().inputValue()).toBe('high');
      await api('DELETE', `/user/tokens/${token.id}`);
      await page.getByText('Your session has ended').waitFor();
      await signIn(server.token);
      await expect.poll(() => rate().inputValue()).toBe('high');
      await button('Save').click();
      await page.getByText(/rate sensitivity low → high/).waitFor();
      await page.reload();
      await expect.poll(() => button('Save').isDisabled()).toBe(true);
      expect((await api('GET', `${rulesPath(ACCOUNT)}/${rule}`)).rate_sensitivity).toBe('high');
    });

    it('of a rule is forgotten when the user signs out', async () => {
      await open(`rules/${rule}`);
      await rate().selectOption('medium');
      await page.getByRole('button', { name: 'account and menu' }).click();
      await button('Sign out').click();
      await signIn(server.token);
      await expect.poll(() => rate().inputValue()).toBe('high');
      expect(await button('Save').isDisabled()).toBe(true);
    });

    it('of a rule is compared with a change that another client made in the meantime', async () => {
      await open(`rules/${rule}`);
      await rate().selectOption('low');
      await page.getByRole('link', { name: 'Try', exact: true }).first().click();
      await page.getByText('operations to try').waitFor();
      await api('PATCH', `${rulesPath(ACCOUNT)}/${rule}`, { rate_sensitivity: 'medium' });
      await page.goBack();
      await page.getByRole('table', { name: 'Values before, now and in your change' }).waitFor();
      await button('Discard mine').click();
      await expect.poll(() => rate().inputValue()).toBe('medium');
      await page.reload();
      await expect.poll(() => rate().inputValue()).toBe('medium');
      expect(await page.getByRole('alert').count()).toBe(0);
    });

    it('of a new rule is sent with the same Idempotency-Key after a reload, so that no second rule is created', async () => {
      await open('rules/new');
      await page.getByRole('radio', { name: 'Region' }).check();
      await page.locator('[name=name]').fill('WEUR');
      const keys: (string | undefined)[] = [];
      await page.route('**/dns_protection/rules', async (route) => {
        if (route.request().method() !== 'POST') return route.continue();
        keys.push(route.request().headers()['idempotency-key']);
        return keys.length === 1 ? route.abort('connectionreset') : route.continue();
      });
      await button('Create the rule').click();
      await page.getByText('The server did not answer.').waitFor();
      await page.reload();
      await expect.poll(() => page.locator('[name=name]').inputValue()).toBe('WEUR');
      await button('Create the rule').click();
      await page.getByText('The rule for region WEUR was created').waitFor();
      expect(new Set(keys).size).toBe(1);
      await open('rules/new');
      await expect.poll(() => page.locator('[name=name]').inputValue()).toBe('');
    });

    it('of a new entry of a list is still there after Reload, and forgotten when the entry is added', async () => {
      const value = () => page.getByLabel('New network or name');
      await open('lists');
      await page.getByLabel('Effect').selectOption('allow');
      await value().fill('192.0.2.0/24');
      await page.getByRole('searchbox').fill('198');
      await page.reload();
      await expect.poll(() => value().inputValue()).toBe('192.0.2.0/24');
      await button('Add the entry').click();
      await page.getByText('Allowed: 1 network').waitFor();
      await page.reload();
      await page.getByText('Allowed: 1 network').waitFor();
      expect(await value().inputValue()).toBe('');
    });

    it.each([
      ['token', 'Label', { 'Account ids, separated by spaces': 'a b' }],
      ['key', 'Name', { 'Methods, separated by spaces (empty: all)': 'eth_call' }],
    ])(
      'of a new %s is still there after Reload, and its secret is never stored',
      async (kind, name, more) => {
        const stored = () => inPage<string>(page, 'JSON.stringify({ ...sessionStorage, ...localStorage })');
        const field = (label: string) => page.getByRole('dialog').getByLabel(label, { exact: true });
        const fields = Object.entries({ [name]: 'dashboard', ...more });
        await open('access');
        await button(`New ${kind}`).click();
        for (const [label, text] of fields) await field(label).fill(text);
        await field('Valid for').selectOption('30');
        await page.reload();
        for (const [label, text] of fields) await expect.poll(() => field(label).inputValue()).toBe(text);
        expect(await field('Valid for').inputValue()).toBe('30');
        await button(`Create ${kind}`).click();
        const secret = await page.locator('.secret').textContent();
        expect(secret).toMatch(/^fg[a-z]*_/);
        expect(await stored()).not.toContain(secret);
        expect(await stored()).not.toContain('dashboard');
        await page.reload();
        await button(`New ${kind}`).click();
        expect(await field(name).inputValue()).toBe('');
        await field(name).fill('unwanted');
        await button('Cancel').click();
        await page.reload();
        await button(`New ${kind}`).waitFor();
        expect(await page.getByRole('dialog').count()).toBe(0);
        expect(await stored()).not.toContain('unwanted');
      },
    );

    it('a link contains the account, because another token may have another first account', async () => {
      const { value } = await api('POST', '/user/tokens', { accounts: ['b', 'c'], permissions: ALL });
      const other = await openTab(browser, server.url);
      await other.page.goto(`${server.url}/console/lists`);
      await other.page.getByLabel('Token', { exact: true }).fill(value);
      await other.page.getByRole('button', { name: 'Sign in' }).click();
      await other.page.getByRole('link', { name: 'Rules', exact: true }).first().click();
      await other.page.waitForURL('**/console/rules?account=b');
      await other.context.close();
    });

    it('of a new policy is discarded with Cancel', async () => {
      await open('zones/new');
      await page.locator('[name=zone]').fill('example.com');
      await page.getByRole('link', { name: 'Cancel' }).click();
      await page.getByText('No policies').first().waitFor();
      await page.goBack();
      await expect.poll(() => page.locator('[name=zone]').inputValue()).toBe('');
    });
  },
);
