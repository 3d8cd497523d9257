import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floodgate } from '../rules/support/command.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import { CHROMIUM, hold, inPage, launchBrowser, openTab, type Tab } from './support/browser.ts';
import { checkPage, checkState, DRAWN } from './support/checkPages.ts';
import { type DevServer, startDevServer } from './support/devServer.ts';
import { Flood } from './support/flood.ts';

const ZONE = 'example.test';
const LOW = { profile_sensitivity: 'low', rate_sensitivity: 'low', burst_sensitivity: 'low' };

describe.skipIf(CHROMIUM === undefined)(
  `the console${CHROMIUM ? '' : ' (Chromium is not installed)'}`,
  () => {
    let dataDir: string;
    let port: number;
    let server: DevServer;
    let browser: Browser;
    let tab: Tab;
    let page: Page;
    let flood: Flood | undefined;

    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'floodgate-console-'));
      port = await freePort();
      [server, browser] = await Promise.all([startDevServer(dataDir, port), launchBrowser()]);
      tab = await openTab(browser, server.url);
      page = tab.page;
    });
    afterAll(async () => {
      await flood?.stop();
      await browser?.close();
      await server?.stop();
      await rm(dataDir, { recursive: true, force: true });
    });

    const rulesUrl = () =>
      `${server.url}/client/v4/accounts/${server.account}/network/advanced_dns_protection/configs/dns_protection/rules`;
    const api = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(`${rulesUrl()}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${server.token}` },
      });
      // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
      return (await answer.json()) as any;
    };
    const theRule = async () => (await api('')).result[0];
    const heading = (of = page) => of.locator('main h1').first();
    const button = (name: string | RegExp) => page.getByRole('button', { name });
    const go = async (title: string) => page.getByRole('link', { name: title, exact: true }).first().click();
    /** So long, the page's own stream tells of what was changed before. */
    const threeMessages = async () => {
      const headers = { authorization: `Bearer ${server.token}` };
      const { body } = await fetch(rulesUrl().replace(/rules$/, 'live'), { headers });
      let text = '';
      for await (const chunk of body ?? []) {
        text += new TextDecoder().decode(chunk);
        if (text.split('\n\n').length > 3) break;
      }
    };
    /** Signed in, and still so where the page is loaded again. */
    const rememberedTab = async (path: string): Promise<Tab> => {
      const opened = await openTab(browser, server.url);
      await opened.page.goto(`${server.url}/console/${path}`);
      await opened.page.getByLabel('Token').fill(server.token);
      await opened.page.getByLabel('Remember it').check();
      await opened.page.getByRole('button', { name: 'Sign in' }).click();
      return opened;
    };
    /** How often a page that is loaded from now on asks the API for it. */
    const readsOf = (of: Page, path: string) => {
      let count = 0;
      of.on('framenavigated', () => {
        count = 0;
      });
      of.on('request', (request) => {
        if (request.url().startsWith(`${server.url}/client/`) && request.url().endsWith(path)) count++;
      });
      return () => count;
    };
    const counted = async () => (await api('/../status')).result.since_start;
    const texts = async (selector: string) => page.locator(selector).allTextContents();

    it('signs in with the printed link, whose code works once and stays in no address bar', async () => {
      await page.goto(server.link);
      await heading().getByText('No attack').waitFor();
      expect(page.url()).toBe(`${server.url}/console/`);
      expect(await inPage(page, 'sessionStorage.length + localStorage.length')).toBe(0);
      await page.getByText('● live').waitFor();

      const again = await openTab(browser, server.url);
      await again.page.goto(server.link);
      await again.page.getByRole('alert').getByText('is not valid any more').waitFor();
      // The page tells a refused request to its console itself.
      expect(again.faults.filter((fault) => !fault.includes('403'))).toEqual([]);
      await checkPage({ ...again, faults: [] }, 'sign-in');
      await again.context.close();
    });

    it('tells its keys, goes by them, and closes by Escape', async () => {
      await page.keyboard.press('?');
      const keys = page.getByRole('dialog', { name: 'Keys' });
      await keys.getByText('go to Attacks').waitFor();
      await checkState(tab, 'keys');
      await page.keyboard.press('Escape');
      await keys.waitFor({ state: 'detached' });
      // Where there is no gateway, node, token or attack yet, each says so.
      for (const [key, path, text] of [
        ['t', 'traces', 'No gateway runs here'],
        ['o', 'nodes', 'No nodes are configured'],
        ['c', 'access', 'No token but the server’s own'],
        ['y', 'try', 'Choose an operation'],
        ['a', 'attacks', 'Nothing to see here, which is good'],
      ] as const) {
        await page.keyboard.press('g');
        await page.keyboard.press(key);
        await page.waitForURL(`**/console/${path}`);
        await page.getByText(text).waitFor();
        await checkState(tab, `${path}-nothing`);
      }
    });

    it('moves nothing where the list of operations comes late', async () => {
      await page.setViewportSize({ width: 360, height: 740 });
      const letThrough = await hold(page, '**/openapi.json');
      await go('Now');
      await page.keyboard.press('g');
      await page.keyboard.press('y');
      await page.getByText('Choose an operation').waitFor();
      // For half a second browsers count what moves as moved by the key.
      await inPage(page, 'new Promise((resolve) => setTimeout(resolve, 600))');
      letThrough();
      await heading()
        .getByText(/^\d+ operations to try$/)
        .waitFor();
      await checkState(tab, 'try-late');
      await page.unroute('**/openapi.json');
    });

    it('teaches where there is nothing, and creates a rule', async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('r');
      await page.getByText('No rule yet').waitFor();
      expect(await texts('.empty pre')).toEqual([expect.stringContaining(rulesUrl())]);
      await checkState(tab, 'rules-empty');
      await page.getByRole('link', { name: 'New rule' }).click();
      await checkState(tab, 'rule-new');
      await button('Create the rule').click();
      await heading().getByText('Rule for everywhere').waitFor();
      expect(await theRule()).toMatchObject({ scope: 'global', name: 'global', mode: 'monitoring' });
      await page.getByText('in force here').waitFor();
    });

    it('shows an attack as it appears, and hostile names as text', async () => {
      await go('Now');
      await heading().getByText('No attack').waitFor();
      await checkState(tab, 'now-quiet');
      flood = await Flood.start(ZONE, server.dns);
      await heading().getByText(`Attack on ${ZONE} since`).waitFor();
      await page.getByText('would be refused were the rule enabled').waitFor();
      await page.locator('.top li').first().waitFor();
      await page.getByText('As if the rule were enabled.').waitFor();
      await page.getByText(/^from [\d,]+ of [\d,]+ queries of the last \d+ s$/).waitFor();
      await page
        .getByText(/^refuses [1-9]\d % of [\d,]+ that pay, known names hit: 0$/)
        .nth(2)
        .waitFor();
      await checkPage(tab, 'now-attack');
      await page.getByRole('link', { name: 'All of this attack' }).click();
      await page.getByText(/^Since .* 0 % of [\d,]+ queries refused, \d+ % would have been\./).waitFor();
      await page.getByText('Some of the names').click();
      await until('hostile names were sampled', async () => /\\\d{3}/.test((await texts('.samples')).join()));
      await checkPage(tab, 'attack');
      await button('Copy report').click();
      await page.getByText('✓ Copied').waitFor();
      expect(await inPage(page, 'navigator.clipboard.readText()')).toMatch(
        /^Attack on example\.test\n {2}id +[0-9a-f-]{36}\n[\s\S]*Names refused most:\n/,
      );
      await go('Attacks');
      await page.getByText('One attack in the last 90 days; one lasts.').waitFor();
      // Local time, and UTC on hover.
      const began = page.locator('main tbody time').first();
      const utc = (await began.getAttribute('title')) ?? '';
      expect(utc).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \(UTC\)$/);
      const [, clock] = /(\d\d:\d\d:\d\d)$/.exec((await began.textContent()) ?? '') ?? [];
      expect(clock).toBe(
        new Date(utc.replace(' (UTC)', '')).toLocaleTimeString('en-GB', { timeZone: 'Europe/Zurich' }),
      );
      await checkPage(tab, 'attacks');
    });

    it('reads an attack once where the live stream comes late', async () => {
      const late = await rememberedTab('attacks');
      const { id } = (await api('/../attacks')).result[0];
      await late.page.getByText('● live').waitFor();
      await hold(late.page, '**/live');
      const reads = readsOf(late.page, `/attacks/${id}`);
      await late.page.goto(`${server.url}/console/attacks/${id}`);
      await heading(late.page).getByText(`Attack on ${ZONE} lasts`).waitFor();
      await inPage(late.page, DRAWN);
      expect(reads()).toBe(1);
      await late.context.close();
    });

    it('moves nothing, and reads once, where the guard and what it counted come late', async () => {
      const late = await rememberedTab(`rules/${(await theRule()).id}`);
      const settings = late.page.getByRole('heading', { name: 'Settings' });
      await late.page.getByText('● live').waitFor();
      for (const width of [360, 700, 1280]) {
        await late.page.setViewportSize({ width, height: 800 });
        const letLive = await hold(late.page, '**/live');
        const letCounts = await hold(late.page, '**/analytics');
        const reads = readsOf(late.page, '/analytics');
        await late.page.reload();
        const place = await settings.boundingBox();
        letCounts();
        await late.page.getByText(/would have refused [1-9]/).waitFor();
        await inPage(late.page, DRAWN);
        expect(reads()).toBe(1);
        expect(await settings.boundingBox(), `${width}, counts`).toEqual(place);
        letLive();
        await late.page.getByText('in force here').waitFor();
        expect(await settings.boundingBox(), `${width}, guard`).toEqual(place);
      }
      await checkState(late, 'rule-late');
      await late.context.close();
    });

    it('asks about what is pressed before the rule in force is read', async () => {
      await go('Rules');
      const letThrough = await hold(page, '**/rules/*');
      await go('Now');
      await button('enabled').click();
      letThrough();
      const dialog = page.getByRole('dialog', { name: 'Set the rule for everywhere to enabled?' });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.unrouteAll({ behavior: 'wait' });
      expect((await theRule()).mode).toBe('monitoring');
    });

    it('changes the rule that is in force, and not the one before', async () => {
      const before = await theRule();
      const letThrough = await hold(page, '**/rules/*');
      const { result } = await api('', {
        method: 'POST',
        body: JSON.stringify({ ...LOW, scope: 'global', name: 'newer', mode: 'monitoring' }),
      });
      await page.locator(`.in-force a[href$="${result.id}"]`).waitFor();
      await button('disabled').click();
      letThrough();
      await page.getByRole('button', { name: 'Set to disabled' }).click();
      await page.getByText('is disabled now').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      expect(await api(`/${before.id}`)).toMatchObject({ result: { mode: 'monitoring' } });
      await go('Rules');
      await api(`/${result.id}`, { method: 'DELETE' });
      await heading().getByText('One rule; the one for everywhere is in force here, monitoring.').waitFor();
    });

    it('says what monitoring would have refused, and enables: refusals begin in the page and outside, and are undone', async () => {
      if (flood === undefined) throw new Error('there is a flood');
      await go('Rules');
      await page.getByRole('link', { name: 'everywhere' }).click();
      await page.getByText(/would have refused [1-9]/).waitFor();
      await page.getByText('✓ No user would have been refused').waitFor();
      await checkState(tab, 'rule-monitoring');
      expect((await counted()).dropped).toBe(0);
      await go('Now');
      await button('enabled').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Set the rule for everywhere to enabled?').waitFor();
      await checkState(tab, 'confirm');
      await dialog.getByRole('button', { name: 'Set to enabled' }).click();
      await page.getByText('The rule for everywhere is enabled now; it was monitoring.').waitFor();
      expect((await theRule()).mode).toBe('enabled');
      await until('refusals are told', async () => (await counted()).dropped > 1000);
      await until('the flood is answered less', async () => {
        const { sent, answered } = flood as Flood;
        await until('more is sent', () => (flood as Flood).sent > sent + 2000);
        return (flood as Flood).answered - answered < ((flood as Flood).sent - sent) / 2;
      });
      await page
        .locator('.banner')
        .getByText(/[1-9][\d.]* % of them refused/)
        .waitFor();
      // The graph has them as refusals, and no more as what would be.
      await until('the graph has refusals', async () =>
        (await texts('.graph .legend')).some((text) => text.trim() === 'refused'),
      );
      await checkState(tab, 'now-enabled');

      await button('disabled').click();
      await dialog.getByRole('button', { name: 'Set to disabled' }).click();
      await page.getByText('is disabled now').waitFor();
      await button('Undo').click();
      await page.getByText('Taken back').waitFor();
      expect((await theRule()).mode).toBe('enabled');
    });

    it('explains a name, whatever it is', async () => {
      await page.keyboard.press('/');
      await page.keyboard.type(`www.${ZONE}`);
      await page.keyboard.press('Enter');
      await page.getByText(/passes: it does not have to pay. It is known, with A, AAAA/).waitFor();
      expect(page.url()).toContain(`/console/?name=www.${ZONE}&type=A`);
      await page.getByRole('textbox', { name: 'Name' }).fill('<img src=x onerror=alert(1)>\u202e.test');
      await button('Explain').click();
      await page
        .locator('.explained')
        .getByText(/onerror/)
        .waitFor();
      expect(await page.locator('main img').count()).toBe(0);
    });

    it('keeps what was written where somebody else is faster', async () => {
      const { id } = await theRule();
      await page.goto(`${server.url}/console/rules/${id}`);
      // A reload forgets the token, which was in memory.
      await page.getByLabel('Token').fill(server.token);
      await page.getByLabel('Remember it').check();
      await button('Sign in').click();
      await page.getByLabel('Rate sensitivity').selectOption('low');
      await api(`/${id}`, { method: 'PATCH', body: JSON.stringify({ burst_sensitivity: 'high' }) });
      await page.getByText('Somebody changed this rule in the meantime').waitFor();
      await expect.poll(() => page.getByLabel('Rate sensitivity').inputValue()).toBe('low');
      await button('Drop mine').click();
      await page.getByLabel('Rate sensitivity').selectOption('low');
      // The same by a stale tag: the other is faster by so little that this page cannot know.
      await page.route('**/rules/*', async (route) => {
        if (route.request().method() === 'PATCH')
          await api(`/${id}`, { method: 'PATCH', body: JSON.stringify({ burst_sensitivity: 'low' }) });
        return route.fallback();
      });
      await button('Save').first().click();
      await page.getByText('Somebody changed this rule in the meantime').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await checkPage(
        { ...tab, faults: tab.faults.filter((fault) => !fault.includes('412')) },
        'rule-conflict',
      );
      tab.faults.length = 0;
      await expect.poll(() => page.getByLabel('Rate sensitivity').inputValue()).toBe('low');
      await button('Save mine on top of theirs').click();
      await page.getByText('Saved for everywhere: rate sensitivity medium → low.').waitFor();
      expect(await theRule()).toMatchObject({
        rate_sensitivity: 'low',
        burst_sensitivity: 'low',
        mode: 'enabled',
      });
      await page.locator('.history li').nth(4).waitFor();
      // The newest first, with what it changed.
      const newest = page.locator('.history li').first();
      await expect.poll(() => newest.textContent()).toMatch(/changed by.*rate.sensitivity.*medium.*low/is);
      await checkPage(tab, 'rule');
      // It was to be remembered: in this tab alone.
      await page.reload();
      await heading().getByText('Rule for everywhere').waitFor();
      expect(await inPage(page, 'localStorage.length')).toBe(0);
    });

    it('comes back when the server does, and says so meanwhile', async () => {
      await go('Now');
      await page.getByText('● live').waitFor();
      await server.stop();
      await page.getByText(/reconnecting, last update \d+ s ago/).waitFor();
      server = await startDevServer(dataDir, port);
      if (flood) flood.target = server.dns;
      await page.getByText('● live').waitFor();
      await heading()
        .getByText(/attack/i)
        .waitFor();
      // The browser's own lines about requests that were not answered, or refused by a server that was stopping.
      tab.faults.splice(
        0,
        tab.faults.length,
        ...tab.faults.filter((fault) => !/ERR_|Failed to fetch|network error|status of 503/.test(fault)),
      );
      expect(tab.faults).toEqual([]);
    });

    it('shows a token that may only read no button that fails', async () => {
      const { stdout } = await floodgate(
        [
          'token',
          'create',
          '--json',
          '--account',
          server.account,
          '--permission',
          'read',
          '--label',
          '<b>reader</b>',
        ],
        { env: { FLOODGATE_DATA_DIR: dataDir } },
      );
      const { token } = JSON.parse(stdout);
      const reader = await openTab(browser, server.url);
      await reader.page.goto(`${server.url}/console/rules`);
      await reader.page.getByLabel('Token').fill(token);
      await reader.page.getByRole('button', { name: 'Sign in' }).click();
      await reader.page.getByRole('link', { name: 'everywhere' }).click();
      await reader.page.getByText('shown to tokens with dns_protection:audit').waitFor();
      const names = await reader.page.locator('main').getByRole('button').allTextContents();
      expect(names.filter((name) => !name.startsWith('Copy'))).toEqual([]);
      expect(await reader.page.getByRole('link', { name: 'New rule' }).count()).toBe(0);
      await checkState(reader, 'rule-reader');
      await reader.page.getByRole('button', { name: 'account and menu' }).click();
      await reader.page.getByText('<b>reader</b>').waitFor();
      await checkState(reader, 'menu');

      // With as many as may listen with one token: the page says so, and is live again when it may be.
      const many = new AbortController();
      const live = rulesUrl().replace(/rules$/, 'live');
      const init = { headers: { authorization: `Bearer ${token}` }, signal: many.signal };
      await Promise.all(Array.from({ length: 7 }, () => fetch(live, init)));
      expect((await fetch(live, init)).status).toBe(429);
      await reader.page.reload();
      await reader.page.getByLabel('Token').fill(token);
      const more = await until('there is a place again', async () => {
        const answer = await fetch(live, init);
        return answer.status === 200 && answer;
      });
      await reader.page.getByRole('button', { name: 'Sign in' }).click();
      const dot = reader.page.getByRole('status').filter({ hasText: 'too many listen' });
      await dot.waitFor();
      await expect
        .poll(() => dot.getAttribute('title'))
        .toBe('Only 8 may listen with one token, and so many do');
      await more.body?.cancel();
      await reader.page.getByText('● live').waitFor();
      many.abort();
      await reader.context.close();
    });

    it('finds rules by place and mode, and hides the others from everybody', async () => {
      const { id } = await theRule();
      const lax = { scope: 'datacenter', name: 'lax', mode: 'disabled' };
      const made = await api('', { method: 'POST', body: JSON.stringify({ ...LOW, ...lax }) });
      await go('Rules');
      const search = page.getByRole('searchbox');
      const rows = page.locator('main tbody').getByRole('row');
      const hidden = page.locator(`main tbody a[href*="${id}"]`);
      await expect.poll(() => rows.count()).toBe(2);
      for (const text of ['LAX', 'disabled']) {
        await search.fill(text);
        await expect.poll(() => rows.allTextContents()).toEqual([expect.stringContaining('datacenter lax')]);
        expect(await hidden.isVisible()).toBe(false);
        await heading().getByText('2 rules; the one for everywhere is in force here').waitFor();
      }
      await checkState(tab, 'rules-found');
      await search.fill('nowhere');
      await page.getByText('No rule has “nowhere” in its place or mode.').waitFor();
      expect(await page.locator('main table').isVisible()).toBe(false);
      await search.fill('');
      await expect.poll(() => rows.count()).toBe(2);
      expect(await hidden.isVisible()).toBe(true);
      await api(`/${made.result.id}`, { method: 'DELETE' });
      await expect.poll(() => rows.count()).toBe(1);
    });

    it('shows the rules as they are where one was made and deleted between two messages of the stream', async () => {
      const rows = page.locator('main tbody').getByRole('row');
      await go('Now');
      await threeMessages();
      const rule = { ...LOW, scope: 'datacenter', name: 'ams', mode: 'disabled' };
      const made = await api('', { method: 'POST', body: JSON.stringify(rule) });
      await go('Rules');
      await expect.poll(() => rows.count()).toBe(2);
      await api(`/${made.result.id}`, { method: 'DELETE' });
      await expect.poll(() => rows.count()).toBe(1);
    });

    it('deletes by name, and makes it again', async () => {
      await go('Rules');
      await checkPage(tab, 'rules');
      await page.getByRole('link', { name: 'everywhere' }).click();
      await button('Delete …').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('no rule is in force then, and every query passes').waitFor();
      expect(await dialog.getByRole('button', { name: 'Delete the rule' }).isDisabled()).toBe(true);
      await dialog.getByRole('textbox').fill('global');
      // The stream tells of the deletion before its answer has come.
      await page.route('**/rules/*', async (route) => {
        if (route.request().method() !== 'DELETE') return route.fallback();
        const response = await route.fetch();
        await threeMessages();
        return route.fulfill({ response });
      });
      await dialog.getByRole('button', { name: 'Delete the rule' }).click();
      await page.getByText('No rule yet').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      expect((await api('')).result).toEqual([]);
      await button('Undo').click();
      await page.getByText('is there again, with a new id').waitFor();
      expect(await theRule()).toMatchObject({ rate_sensitivity: 'low', mode: 'enabled' });
      expect(tab.faults).toEqual([]);
    });

    it('is served under a strict policy, for ever where a name says what is in a file, and signs nobody in with a wrong code', async () => {
      const answer = await fetch(`${server.url}/console/any/where?x=1`);
      const html = await answer.text();
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
      for (const word of [
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
      ])
        expect(policy).toContain(word);
      expect(policy).not.toMatch(/unsafe|\*|http/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('no-cache');
      let bytes = 0;
      for (const [, path] of html.matchAll(/(?:src|href)="(\/console\/assets\/[^"]+)"/g)) {
        const file = await fetch(server.url + path);
        expect(file.headers.get('cache-control')).toContain('immutable');
        expect(file.headers.get('content-encoding')).toBe('gzip');
        bytes += Number(file.headers.get('content-length'));
      }
      expect(bytes).toBeGreaterThan(10_000);
      expect(bytes).toBeLessThan(150_000);
      expect((await fetch(`${server.url}/console/assets/none-AAAAAAAA.js`)).status).toBe(404);
      const post = (body: string, type: string) =>
        fetch(`${server.url}/console/sign-in`, { method: 'POST', headers: { 'content-type': type }, body });
      const { hash } = new URL(server.link);
      // What a page of another origin can send without being asked first.
      expect((await post(JSON.stringify({ code: hash.slice(6) }), 'text/plain')).status).toBe(415);
      for (const body of ['{"code":"wrong"}', '{"code":7}', '[]', 'null', '{}'])
        expect([body, (await post(body, 'application/json')).status]).toEqual([body, 403]);
      const right = await post(JSON.stringify({ code: hash.slice(6) }), 'application/json');
      expect([right.status, right.headers.get('cache-control'), await right.json()]).toEqual([
        200,
        'no-store',
        { token: server.token },
      ]);
      expect((await post(JSON.stringify({ code: hash.slice(6) }), 'application/json')).status).toBe(403);
    });
  },
);
