import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type RulesServer, startServer } from '../rules/support/server.ts';
import { CHROMIUM, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState, checkWidth } from './support/checkPages.ts';

const ACCOUNT = 'a';
const CONFIGS = rulesPath(ACCOUNT).replace(/\/dns_protection\/rules$/, '');

describe.skipIf(CHROMIUM === undefined)(
  `the pages of the guard${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let folder = '';
    let authority: AuthorityServer;
    let server: RulesServer;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    /** A token with the label `alice`, and one that may only read. */
    let alice = '';
    let reader = '';

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'floodgate-pages-'));
      const zone = join(folder, ZONE_NAME);
      writeFileSync(zone, ZONE_TEXT);
      [authority, browser] = await Promise.all([
        serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0),
        launchBrowser(),
      ]);
      server = await startServer({
        args: [
          ...['--console-enabled', '--dns-account', ACCOUNT, '--dns-listen', '127.0.0.1:0'],
          ...['--dns-servers', `${authority.host}:${authority.port}`, '--dns-zones', `${ZONE_NAME}=${zone}`],
        ],
      });
      const created = async (label: string, permissions: readonly string[]) =>
        (await api('/user/tokens', { body: { label, all_accounts: true, permissions } })).value;
      alice = await created('alice', ['dns_protection:write', 'dns_protection:audit']);
      reader = await created('=cmd()', ['dns_protection:read', 'dns_protection:audit', 'health:read']);
      tab = await openTab(browser, server.url);
      page = tab.page;
      await signIn(page, 'activity', server.token);
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await authority?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    interface ApiCall {
      readonly body?: object;
      readonly method?: string;
      readonly token?: string;
    }
    const api = async (path: string, { body, method, token = server.token }: ApiCall = {}) => {
      const answer = await fetch(`${server.baseUrl}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      return ((await answer.json()) as any).result;
    };
    const signIn = async (of: Page, path: string, token: string) => {
      await of.goto(`${server.url}/console/${path}`);
      await of.getByLabel('Token').fill(token);
      await of.getByRole('button', { name: 'Sign in' }).click();
    };
    const heading = (of = page) => of.locator('main h1').first();
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
    const rowsOf = (name: string) => page.getByRole('table', { name }).locator('tbody tr');

    it('shows an empty activity, and new changes after a click', async () => {
      await page.getByText('No changes yet').waitFor();
      await page.getByText('● live').waitFor();
      await checkState(tab, 'activity-empty');
      const { id } = await api(rulesPath(ACCOUNT), { body: { ...newRule, mode: 'monitoring' } });
      await button('Show 1 new change').click();
      await heading()
        .getByText('Newest change: API token of the server created rule for everywhere.')
        .waitFor();
      await api(`${rulesPath(ACCOUNT)}/${id}`, { method: 'PATCH', body: { mode: 'enabled' }, token: alice });
      await button('Show 1 new change').click();
      const newest = rowsOf('Changes').first();
      await newest.getByText('alice').waitFor();
      await newest.getByText('mode monitoring → enabled').waitFor();
    });

    it('filters the activity by the URL, and copies it as CSV without formulas', async () => {
      await api(`${CONFIGS}/denylist`, { body: { prefix: '192.0.2.0/24', comment: '=1+1' }, token: alice });
      await button('Show 1 new change').click();
      await page.getByLabel('Changes of').selectOption('list');
      await heading().getByText('Newest match: alice created denylist entry 192.0.2.0/24.').waitFor();
      await page.getByRole('searchbox').fill('nobody');
      await page.getByRole('searchbox').press('Enter');
      await page.getByText('No change matches.').waitFor();
      expect(new URL(page.url()).search).toBe('?kind=list&text=nobody');
      await checkState(tab, 'activity-none');
      await page.getByRole('link', { name: 'Show all changes' }).click();
      await rowsOf('Changes').nth(2).waitFor();
      await checkPage(tab, 'activity');
      await checkWidth(tab, 'activity');
      await button('Copy as CSV').click();
      await page.getByText('✓ Copied').waitFor();
      const lines = (await clipboard()).split('\r\n');
      expect(lines).toHaveLength(5);
      expect(lines[1]).toMatch(
        /^\d{4}-[^,]*,alice,[^,]*,127\.0\.0\.1,list\.create,denylist entry 192\.0\.2\.0\/24,,"\{/,
      );
    });

    it('shows one change with all values, at a URL of its own', async () => {
      await rowsOf('Changes').nth(1).getByRole('link').first().click();
      await heading().getByText('alice changed rule for everywhere.').waitFor();
      expect(await rowsOf('Values before and after').first().locator('td').allTextContents()).toEqual([
        ...['mode', 'monitoring', 'enabled'],
      ]);
      await checkState(tab, 'change');
      const other = await openTab(browser, server.url);
      await signIn(other.page, page.url().split('/console/')[1] ?? '', reader);
      await heading(other.page).getByText('alice changed rule for everywhere.').waitFor();
      await other.context.close();
      await page.getByRole('link', { name: '← All changes' }).click();
    });

    it('pages through more changes than fit on one page', async () => {
      for (let i = 0; i < 26; i++) {
        const { id } = await api(`${CONFIGS}/allowlist`, { body: { name: `n${i}.example` } });
        await api(`${CONFIGS}/allowlist/${id}`, { method: 'DELETE' });
      }
      await button('Show 52 new changes').click();
      await expect.poll(() => rowsOf('Changes').count()).toBe(50);
      await button('Older').click();
      await expect.poll(() => rowsOf('Changes').count()).toBe(5);
      expect(await button('Older').isDisabled()).toBe(true);
      await rowsOf('Changes').last().getByText('created rule for everywhere').waitFor();
      await button('Newest').click();
      await expect.poll(() => rowsOf('Changes').count()).toBe(50);
      expect(tab.faults).toEqual([]);
    });

    const entriesOf = async (list: string) =>
      (await api(`${CONFIGS}/${list}`)).map(
        (entry: { prefix?: string; name?: string }) => entry.prefix ?? entry.name,
      );
    const dialog = () => page.getByRole('dialog');

    it('adds entries of access lists by a form, with the error of the server at the field', async () => {
      await api(`${CONFIGS}/denylist`, { method: 'DELETE' });
      await page.keyboard.press('g');
      await page.keyboard.press('l');
      await heading().getByText('Nothing is denied; nothing is allowed.').waitFor();
      await checkState(tab, 'lists-empty');
      await page.getByRole('link', { name: 'New entry' }).click();
      const value = page.getByLabel('Network or name');
      await value.fill('192.0.2.1/24');
      await page.getByText('A network: the entry applies to queries of its clients.').waitFor();
      await button('Add the entry').click();
      await page.locator('#error-prefix').getByText('192.0.2.0/24').waitFor();
      tab.faults.splice(0, 1);
      await checkState(tab, 'list-bad-network');
      await value.fill('192.0.2.0/24');
      await page.getByLabel('Comment').fill('=1+1 <b>');
      await button('Add the entry').click();
      await heading().getByText('1 network is denied; nothing is allowed.').waitFor();
      // A second entry for the same network would have no effect.
      await page.goBack();
      await value.fill('192.0.2.0/24');
      await button('Add the entry').click();
      await page.getByText('192.0.2.0/24 is already denied.').waitFor();
      expect(await entriesOf('denylist')).toEqual(['192.0.2.0/24']);
      await page.getByRole('link', { name: 'New entry' }).click();
      await page.getByLabel('Allow').check();
      await value.fill('dyn.example');
      await button('Add the entry').click();
      await heading().getByText('1 network is denied; 1 name is allowed.').waitFor();
      await checkPage(tab, 'lists');
      await checkWidth(tab, 'lists');
      await button('Copy as CSV').click();
      await expect.poll(clipboard).toMatch(/\r\ndenylist,192\.0\.2\.0\/24,true,'=1\+1 <b>,/);
      await page.getByRole('searchbox').fill('DYN');
      await page.getByText('No entry matches the search.').waitFor();
      expect(new URL(page.url()).search).toBe('?text=DYN');
      await page.getByRole('searchbox').fill('');
    });

    it('switches an entry off and on, and deletes it, each with Undo', async () => {
      await page.getByRole('link', { name: '192.0.2.0/24' }).click();
      await heading().getByText('192.0.2.0/24 is denied.').waitFor();
      await page.getByLabel('In force').uncheck();
      await button('Save').click();
      await heading().getByText('192.0.2.0/24: switched off.').waitFor();
      await checkState(tab, 'list-entry');
      await button('Undo').click();
      await page.getByText('Undone: the entry for 192.0.2.0/24 has its previous settings.').waitFor();
      await page.getByRole('link', { name: '← Both lists' }).click();
      await button('Delete 192.0.2.0/24').click();
      await dialog().getByText('Delete 192.0.2.0/24 from the denylist?').waitFor();
      await dialog().getByRole('button', { name: 'Delete' }).click();
      await heading().getByText('Nothing is denied; 1 name is allowed.').waitFor();
      await button('Undo').click();
      await page.getByText('Undone: 192.0.2.0/24 is on the denylist again').waitFor();
      expect(await api(`${CONFIGS}/denylist`)).toMatchObject([
        { prefix: '192.0.2.0/24', comment: '=1+1 <b>', enabled: true },
      ]);
    });

    it('denies a network and allows a name from a table of the zones', async () => {
      const levels = { low: 0, medium: 0, high: 0 };
      const span = {
        queries: 1,
        limited_share: { low: levels, medium: levels, high: levels, very_high: levels },
      };
      const zone = {
        ...{
          zone: ZONE_NAME,
          assessment: 'under_attack',
          judged_by: 'names',
          hour: span,
          day: span,
          week: span,
        },
        ...{ profile_sensitivity: 'low', rate_sensitivity: 'low', networks: ['198.51.100.0/24'] },
        names: [`www.${ZONE_NAME}`, `[a-z]{8}.${ZONE_NAME}`],
      };
      await page.route('**/zone_assessments', (route) =>
        route.fulfill({ json: { result: [zone], success: true, errors: [], messages: [] } }),
      );
      await page.keyboard.press('g');
      await page.keyboard.press('z');
      await page.getByText('Names and networks of limited queries').first().click();
      await checkState(tab, 'zones-limited');
      // An entry for a pattern of random names would let the flood pass.
      expect(await page.getByRole('button', { name: /^Allow/ }).allTextContents()).toEqual([
        `Allow www.${ZONE_NAME}`,
      ]);
      await button('Deny 198.51.100.0/24').click();
      await dialog().getByText('so you may deny an innocent client').waitFor();
      await checkState(tab, 'list-deny');
      await dialog().getByRole('button', { name: 'Deny 198.51.100.0/24' }).click();
      await page.getByText('198.51.100.0/24 is denied.').waitFor();
      expect(await entriesOf('denylist')).toEqual(['192.0.2.0/24', '198.51.100.0/24']);
      await button('Undo').click();
      await page.getByText('Undone: 198.51.100.0/24 is not denied any more.').waitFor();
      expect(await entriesOf('denylist')).toEqual(['192.0.2.0/24']);
      await button(`Allow www.${ZONE_NAME}`).click();
      await dialog()
        .getByRole('button', { name: `Allow www.${ZONE_NAME}` })
        .click();
      await page.getByText(`www.${ZONE_NAME} is allowed.`).waitFor();
      expect(await entriesOf('allowlist')).toEqual(['dyn.example', `www.${ZONE_NAME}`]);
      await page.unrouteAll({ behavior: 'wait' });
      expect(tab.faults).toEqual([]);
    });

    it('shows a token that may only read no buttons for changes', async () => {
      const other = await openTab(browser, server.url);
      await signIn(other.page, 'lists', reader);
      await heading(other.page).getByText('1 network is denied; 2 names are allowed.').waitFor();
      const names = async () =>
        (await other.page.locator('main').locator('button, a.button').allTextContents()).filter(
          (name) => !name.startsWith('Copy'),
        );
      expect(await names()).toEqual([]);
      await other.page.getByRole('link', { name: '192.0.2.0/24' }).click();
      await heading(other.page).getByText('192.0.2.0/24 is denied.').waitFor();
      expect(await names()).toEqual([]);
      await checkState(other, 'list-reader');
      await other.context.close();
    });
  },
);
