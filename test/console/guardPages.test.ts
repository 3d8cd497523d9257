import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { type RulesServer, startServer } from '../rules/support/server.ts';
import { type AlertReceiver, startAlertReceiver } from '../support/alertReceiver.ts';
import { CHROMIUM, launchBrowser, layoutShift, layoutShifts, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState, checkWidth } from './support/checkPages.ts';

const ACCOUNT = 'a';
const CONFIGS = rulesPath(ACCOUNT).replace(/\/dns_protection\/rules$/, '');

describe.skipIf(CHROMIUM === undefined)(
  `the pages of the guard${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let folder = '';
    let authority: AuthorityServer;
    let receiver: AlertReceiver;
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
      [receiver, authority, browser] = await Promise.all([
        startAlertReceiver(),
        serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0),
        launchBrowser(),
      ]);
      server = await startServer({
        env: {
          FLOODGATE_ALERTS_WEBHOOKS: `${receiver.url}/secret-path,http://127.0.0.1:9/secret-path`,
          FLOODGATE_ALERTS_ALLOW_PRIVATE: 'true',
        },
        args: [
          '--console-enabled',
          '--dns-account',
          ACCOUNT,
          '--dns-listen',
          '127.0.0.1:0',
          '--dns-region',
          'WEUR',
          '--dns-datacenter',
          'AMS',
          '--dns-servers',
          `${authority.host}:${authority.port}`,
          '--dns-zones',
          `${ZONE_NAME}=${zone}`,
        ],
      });
      tab = await openTab(browser, server.url);
      page = tab.page;
      await signIn(page, 'activity', server.token);
    });
    afterAll(async () => {
      await browser?.close();
      await server?.stop();
      await authority?.stop();
      await receiver?.stop();
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
      await of.getByLabel('Token', { exact: true }).fill(token);
      await of.getByRole('button', { name: 'Sign in' }).click();
    };
    const heading = (of = page) => of.locator('main h1').first();
    const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true });
    const rowsOf = (name: string, of = page) => of.getByRole('table', { name }).locator('tbody tr');

    const created = async (label: string, permissions: readonly string[]) =>
      (await api('/user/tokens', { body: { label, all_accounts: true, permissions } })).value;
    const download = async () => {
      const saved = page.waitForEvent('download');
      await button('Save as CSV').click();
      return (await readFile(await (await saved).path(), 'utf8')).split('\r\n');
    };

    it('shows an empty activity, then changes of tokens, and new changes after a click', async () => {
      await page.getByText('No changes yet').waitFor();
      await page.getByText('● live').waitFor();
      await checkState(tab, 'activity-empty');
      alice = await created('alice', ['dns_protection:write', 'dns_protection:audit']);
      reader = await created('=cmd()', ['dns_protection:read', 'dns_protection:audit', 'health:read']);
      await page.reload();
      await heading().getByText('Newest change: API token of the server created token =cmd().').waitFor();
      await page.getByText('● live').waitFor();
      const { id } = await api(rulesPath(ACCOUNT), { body: { ...newRule, mode: 'monitoring' } });
      await button('Show 1 new change').click();
      await heading()
        .getByText('Newest change: API token of the server created rule for everywhere.')
        .waitFor();
      await api(`${rulesPath(ACCOUNT)}/${id}`, { method: 'PATCH', body: { mode: 'enabled' }, token: alice });
      await button('Show 1 new change').click();
      const newest = rowsOf('Changes').first();
      await newest.getByText('alice').waitFor();
      await expect.poll(() => newest.locator('.differences').textContent()).toBe('mode monitoring enabled');
    });

    it('filters the activity by the URL, and saves it as CSV without formulas', async () => {
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
      await rowsOf('Changes').nth(4).waitFor();
      await checkPage(tab, 'activity');
      await checkWidth(tab, 'activity');
      const lines = await download();
      expect(lines).toHaveLength(7);
      expect(lines[1]).toMatch(
        /^\d{4}-[^,]*,alice,[^,]*,127\.0\.0\.1,list\.create,denylist entry 192\.0\.2\.0\/24,,"\{/,
      );
    });

    it('pages through more changes than fit on one page', async () => {
      for (let i = 0; i < 26; i++) {
        const { id } = await api(`${CONFIGS}/allowlist`, { body: { name: `n${i}.example` } });
        await api(`${CONFIGS}/allowlist/${id}`, { method: 'DELETE' });
      }
      await button('Show 52 new changes').waitFor();
      expect(await layoutShift(page), await layoutShifts(page)).toBeLessThan(0.001);
      await button('Show 52 new changes').click();
      await expect.poll(() => rowsOf('Changes').count()).toBe(50);
      await button('Older').click();
      await expect.poll(() => rowsOf('Changes').count()).toBe(7);
      expect(await button('Older').isDisabled()).toBe(true);
      await rowsOf('Changes').last().getByText('created token alice').waitFor();
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
      await heading().getByText('Denied: nothing. Allowed: nothing.').waitFor();
      await checkState(tab, 'lists-empty');
      const value = page.getByLabel('New network or name');
      const add = async (text: string) => {
        await value.fill(text);
        await button('Add the entry').click();
      };
      await add('192.0.2.1/24');
      await page.locator('#error-prefix').getByText('192.0.2.0/24').waitFor();
      expect(await value.getAttribute('aria-describedby')).toBe('error-prefix');
      tab.faults.splice(0, 1);
      await checkState(tab, 'list-bad-network');
      await page.getByLabel('Comment', { exact: true }).fill('=1+1 <b>');
      await value.fill('192.0.2.0/24');
      await button('Add the entry').dblclick();
      await heading().getByText('Denied: 1 network. Allowed: nothing.').waitFor();
      // A second entry for the same network would have no effect.
      await add('192.0.2.0/24');
      await page.getByText('192.0.2.0/24 is already denied.').waitFor();
      expect(await entriesOf('denylist')).toEqual(['192.0.2.0/24']);
      await page.getByLabel('Effect').selectOption('allow');
      await add('dyn.example');
      await heading().getByText('Denied: 1 network. Allowed: 1 name.').waitFor();
      await checkPage(tab, 'lists');
      await checkWidth(tab, 'lists');
      expect((await download())[1]).toMatch(/^denylist,192\.0\.2\.0\/24,true,'=1\+1 <b>,/);
      await page.getByRole('searchbox').fill('NOTHING');
      await page.getByText('No entry matches the search.').waitFor();
      expect(new URL(page.url()).search).toBe('?text=NOTHING');
      await page.getByRole('searchbox').fill('');
    });

    it('switches an entry off and on, and deletes it, each with Undo', async () => {
      await page.getByRole('link', { name: '192.0.2.0/24' }).click();
      await heading().getByText('denied').waitFor();
      await page.getByLabel('In force').uncheck();
      await button('Save').click();
      await heading().getByText('switched off').waitFor();
      await button('Undo').click();
      await page.getByText('Undone: the entry for 192.0.2.0/24 has its previous settings.').waitFor();
      await checkState(tab, 'list-entry');
      await page.getByRole('link', { name: '← All lists' }).click();
      await button('Delete 192.0.2.0/24').click();
      await dialog().getByText('Delete 192.0.2.0/24 from the denylist?').waitFor();
      await dialog().getByRole('button', { name: 'Delete' }).click();
      await heading().getByText('Denied: nothing. Allowed: 1 name.').waitFor();
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
        zone: ZONE_NAME,
        assessment: 'under_attack',
        judged_by: 'names',
        known_names: 3,
        hour: span,
        day: span,
        week: span,
        profile_sensitivity: 'low',
        rate_sensitivity: 'low',
        networks: ['198.51.100.0/24'],
        names: [`www.${ZONE_NAME}`, `[a-z]{8}.${ZONE_NAME}`],
      };
      await page.route('**/zone_assessments', (route) =>
        route.fulfill({ json: { result: [zone], success: true, errors: [], messages: [] } }),
      );
      await page.keyboard.press('g');
      await page.keyboard.press('z');
      await page.getByText('Limited names and networks').click();
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

    it('sends a test alert to each webhook, and shows the result and the history', async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('w');
      await heading().getByText('No alert is firing.').waitFor();
      await page.getByText('No alert was sent. The server keeps the last 100.').waitFor();
      await page.getByText('Alerts are not signed').waitFor();
      await button('Send a test alert …').click();
      await dialog().getByText('webhook-2 (127.0.0.1:9)').waitFor();
      await dialog().getByRole('button', { name: 'Send the test alert' }).click();
      await page.getByText(/^✓ webhook-1: delivered in \d+ ms$/).waitFor();
      await page.getByText('✕ webhook-2: connection refused').waitFor();
      expect(receiver.alerts()).toMatchObject([{ kind: 'test', state: 'firing' }]);
      await heading().getByText('webhook-2 did not accept the last alert.').waitFor();
      const row = rowsOf('Alerts').first();
      await row.getByText('test: POST /alerts/test').waitFor();
      await row.getByText('! 1 of 2: webhook-1').waitFor();
      expect(await page.locator('main').textContent()).not.toContain('secret-path');
      await checkPage(tab, 'alerts');
      await checkWidth(tab, 'alerts');
      await page.getByLabel('Kind').selectOption('test');
      expect(new URL(page.url()).search).toBe('?kind=test');
      expect(tab.faults).toEqual([]);
    });

    it('sorts rules in natural order, suggests known places, and changes a mode in the list', async () => {
      const rule = { ...newRule, mode: 'disabled', scope: 'datacenter' };
      for (const name of ['pop10', 'pop9']) await api(rulesPath(ACCOUNT), { body: { ...rule, name } });
      await page.keyboard.press('g');
      await page.keyboard.press('r');
      await heading().getByText('3 rules. In force here: the rule for everywhere, enabled.').waitFor();
      const scopes = () => rowsOf('Rules').locator('td:first-child a').allTextContents();
      await expect.poll(scopes).toEqual(['datacenter pop9', 'datacenter pop10', 'everywhere']);
      await button('Scope').click();
      await page.waitForURL('**/rules?sort=scope');
      await button('Scope').click();
      await expect.poll(scopes).toEqual(['everywhere', 'datacenter pop10', 'datacenter pop9']);
      expect(new URL(page.url()).search).toBe('?sort=-scope');
      const inForce = rowsOf('Rules').first();
      await inForce.getByText('in force here').waitFor();
      await expect.poll(() => inForce.locator('td').nth(3).textContent()).toMatch(/^\d/);
      await rowsOf('Rules').nth(1).getByText('not in force').waitFor();
      await checkPage(tab, 'rules-sorted');
      await checkWidth(tab, 'rules-sorted');
      const mode = page.getByLabel('Mode of the rule for datacenter pop9');
      await mode.selectOption('monitoring');
      await dialog().getByText('Set the rule for datacenter pop9 to monitoring?').waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => mode.inputValue()).toBe('disabled');
      await mode.selectOption('monitoring');
      await dialog().getByRole('button', { name: 'Set to monitoring' }).click();
      await page.getByText('The rule for datacenter pop9 is now monitoring (was disabled).').waitFor();
      await expect.poll(() => mode.inputValue()).toBe('monitoring');
      await page.getByRole('link', { name: 'New rule' }).click();
      await page.getByRole('radio', { name: 'Datacenter' }).check();
      await expect.poll(() => page.locator('#known-places option').getAttribute('value')).toBe('AMS');
      expect(tab.faults).toEqual([]);
    });

    it('searches everything that the token may read, with Ctrl+K and the keyboard alone', async () => {
      const attack = (id: number) => ({
        id: `${id}`,
        zones: [`zone-${id}.example`],
        zone_count: 1,
        state: 'ended',
        started_on: '2026-11-01T00:00:00Z',
      });
      await page.route('**/attacks?*', (route) => {
        const number = Number(new URL(route.request().url()).searchParams.get('page'));
        const result_info = { total_pages: 2, total_count: 2 };
        return route.fulfill({ json: { result: [attack(number)], result_info, success: true } });
      });
      await page.keyboard.press('Control+k');
      const hits = page.getByRole('listbox', { name: 'Results' }).getByRole('option');
      const search = page.getByRole('combobox', { name: 'Search everything' });
      const find = async (text: string) => {
        await search.fill(text);
        await expect.poll(() => hits.first().textContent()).toContain(text);
      };
      await find('pop10');
      await find('Deny or allow');
      await find('dyn.example');
      await find('zone-2.example');
      await find('Rate sensitivity');
      await search.fill('');
      await expect.poll(() => hits.count()).toBe(20);
      await checkPage(tab, 'search');
      await search.fill('pop');
      await expect
        .poll(() => hits.allTextContents())
        .toEqual([expect.stringContaining('datacenter pop'), expect.stringContaining('datacenter pop')]);
      await page.keyboard.press('ArrowUp');
      expect(await search.getAttribute('aria-activedescendant')).toBe('hit-1');
      await page.keyboard.press('Enter');
      await heading()
        .getByText(/^Rule for datacenter pop/)
        .waitFor();
      // Also while the user types.
      await page.getByLabel('Rate sensitivity').focus();
      await page.keyboard.press('Control+k');
      await search.fill('nothing has this');
      await page.getByText('Nothing found.').waitFor();
      await page.keyboard.press('Escape');
      // A closed dialog is hidden before its `close` event, and until then Ctrl+K opens no other. So wait for its removal.
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(tab.faults).toEqual([]);
      await page.route('**/zone_assessments', (route) => route.fulfill({ status: 500, json: {} }));
      await page.keyboard.press('Control+k');
      await page.getByText('! Some rules, zones, list entries or attacks could not be read.').waitFor();
      await page.keyboard.press('Escape');
      await page.unrouteAll({ behavior: 'wait' });
      // The browser logs the failed request itself.
      tab.faults.length = 0;
    });

    it('finds no action that the token does not allow', async () => {
      const other = await openTab(browser, server.url);
      await signIn(other.page, 'lists', reader);
      await heading(other.page).getByText('Denied: 1 network. Allowed: 2 names.').waitFor();
      await checkState(other, 'list-reader');
      await other.page.keyboard.press('Control+k');
      await other.page.getByRole('combobox', { name: 'Search everything' }).fill('new rule');
      await other.page.getByText('Nothing found.').waitFor();
      await other.context.close();
    });
  },
);
